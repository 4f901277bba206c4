export type Substitution =
  | { readonly kind: 'text'; readonly text: string; readonly variables: readonly string[] }
  | { readonly kind: 'refused'; readonly message: string; readonly hint: string }

export type Environment = Readonly<Record<string, string | undefined>>

const place = /\$\$\{|\$\{([^}]*)(\}?)/g
const inside = /^([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?$/s

/** Checks a text that must not use environment variables. `$${` is a literal `${`. */
export function withoutEnvironment(text: string): Substitution {
  if (!/(?<!\$)\$\{/.test(text)) return { kind: 'text', text: text.replaceAll('$${', '${'), variables: [] }
  return {
    kind: 'refused',
    message: `contains \${…}, but a file of "destinationsFrom" cannot use environment variables`,
    hint: 'write the value itself; for a URL or secret, you can instead name a file in the same directory, for example with "urlFile"; for a literal ${ write $${',
  }
}

/**
 * Replaces `${NAME}` and `${NAME:-default}` in one pass. As in a shell, the default also replaces
 * an empty variable. `$${` is a literal `${`.
 */
export function substitute(text: string, env: Environment): Substitution {
  const variables: string[] = []
  const unset: string[] = []
  let malformed = false
  const result = text.replace(place, (whole: string, content: string | undefined, end: string) => {
    if (whole === '$${') return whole.slice(1)
    const [, name, standard] = (end === '}' && inside.exec(content ?? '')) || []
    // The default ends at the first `}`, so it cannot contain another `${…}`.
    if (name === undefined || standard?.includes('${') === true) malformed = true
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
      message: `contains a \${ that is neither \${NAME} nor \${NAME:-default}`,
      hint: 'NAME must have only letters, digits and _, and must not begin with a digit; the default after :- must not contain ${; for a literal ${ write $${',
    }
  }
  const [name] = unset
  if (name !== undefined) {
    // Show the name only when the whole text is this variable. In a longer text, the supposed name
    // may be part of a secret.
    if (text === `\${${name}}`) {
      const hint = `set the variable, or give a default: \${${name}:-default}`
      return { kind: 'refused', message: `the environment variable ${name} is not set`, hint }
    }
    return {
      kind: 'refused',
      message: `contains \${…} with an environment variable that is not set`,
      hint: `set the variable, or give a default: \${NAME:-default}; for a literal \${ write $\${`,
    }
  }
  return { kind: 'text', text: result, variables }
}
