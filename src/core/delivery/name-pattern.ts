/**
 * A pattern of text and `*`, split at its `*`s. A `*` matches any text, including the empty text.
 */
export interface NamePattern {
  readonly first: string
  /** The texts between two `*`, in order, without empty ones. */
  readonly middle: readonly string[]
  /**
   * The text after the last `*`. `undefined` when the pattern has no `*`: `first` is then the whole
   * pattern.
   */
  readonly last: string | undefined
}

export function parsePattern(pattern: string): NamePattern {
  const [first = '', ...rest] = pattern.split('*')
  const last = rest.pop()
  return { first, middle: rest.filter(Boolean), last }
}

/**
 * Whether a name matches a pattern, in linear time. Senders choose the names, and a regular
 * expression could backtrack for very long.
 */
export function matches({ first, middle, last }: NamePattern, name: string): boolean {
  if (last === undefined) return name === first
  if (!name.startsWith(first) || !name.endsWith(last)) return false
  const end = name.length - last.length
  let from = first.length
  for (const text of middle) {
    const at = name.indexOf(text, from)
    if (at < 0) return false
    from = at + text.length
  }
  return from <= end
}
