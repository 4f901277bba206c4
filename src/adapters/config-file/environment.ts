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
  const [name] = unset
  if (name !== undefined) {
    // Beside other text it may be a fragment of a secret, which is not repeated.
    if (text === `\${${name}}`) {
      const hint = `set it or give a default: \${${name}:-default}`
      return { kind: 'refused', message: `${name} is not set in the environment`, hint }
    }
    return {
      kind: 'refused',
      message: 'names a variable that is not set in the environment',
      hint: `set it or give a default: \${NAME:-default}; a literal \${ is written $\${`,
    }
  }
  return { kind: 'text', text: result, variables }
}
