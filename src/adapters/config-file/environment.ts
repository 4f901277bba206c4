export type Substitution =
  | { readonly kind: 'text'; readonly text: string; readonly variables: readonly string[] }
  | { readonly kind: 'refused'; readonly message: string; readonly hint: string }

export type Environment = Readonly<Record<string, string | undefined>>

const place = /\$\$\{|\$\{([^}]*)(\}?)/g
const inside = /^([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?$/s

/** The text where nothing is taken from the environment; `$${` is a literal `${` here too. */
export function withoutEnvironment(text: string): Substitution {
  if (!/(?<!\$)\$\{/.test(text)) return { kind: 'text', text: text.replaceAll('$${', '${'), variables: [] }
  return {
    kind: 'refused',
    message: `takes nothing from the environment: in a file of destinationsFrom \${…} is not possible`,
    hint: 'write the value, or name a file below this directory; a literal ${ is written $${',
  }
}

/** Puts in `${NAME}` and `${NAME:-default}` (also when empty, as in a shell), once; `$${` is a literal `${`. */
export function substitute(text: string, env: Environment): Substitution {
  const variables: string[] = []
  const unset: string[] = []
  let malformed = false
  const result = text.replace(place, (whole: string, content: string | undefined, end: string) => {
    if (whole === '$${') return whole.slice(1)
    const [, name, standard] = (end === '}' && inside.exec(content ?? '')) || []
    if (name === undefined) malformed = true
    else {
      variables.push(name)
      const value = env[name]
      if (standard !== undefined) return value || standard
      if (value === undefined) unset.push(name)
      return value ?? ''
    }
    return ''
  })
  if (malformed) {
    return {
      kind: 'refused',
      message: `has a \${ that begins neither \${NAME} nor \${NAME:-default}`,
      hint: 'a literal ${ is written $${',
    }
  }
  if (unset.length > 0) {
    const [are, them] = unset.length === 1 ? ['is', 'it'] : ['are', 'them']
    return {
      kind: 'refused',
      message: `${unset.join(' and ')} ${are} not set in the environment`,
      hint: `set ${them} or give a default: \${${unset[0]}:-default}`,
    }
  }
  return { kind: 'text', text: result, variables }
}
