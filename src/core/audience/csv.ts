/** The fields of one line of CSV (RFC 4180); undefined: a quoted field does not end in this line, or goes on after its end. */
export function csvFields(line: string): readonly string[] | undefined {
  const fields: string[] = []
  let at = 0
  for (;;) {
    const field = line[at] === '"' ? quoted.exec(line.slice(at)) : plain.exec(line.slice(at))
    if (field === null) return undefined
    const [whole, text = ''] = field
    fields.push(line[at] === '"' ? text.replaceAll('""', '"') : text.trim())
    at += whole.length
    if (at === line.length) return fields
    if (line[at] !== ',') return undefined
    at++
  }
}

const quoted = /^"((?:[^"]|"")*)"/
const plain = /^([^,]*)/
