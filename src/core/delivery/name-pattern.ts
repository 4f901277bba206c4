/**
 * A pattern of text and `*`, split at its `*`s. `*` matches any text, also none; all other
 * characters match only themselves.
 */
export interface NamePattern {
  readonly first: string
  /** The texts between two `*`, in order. Empty ones are left out. */
  readonly middle: readonly string[]
  /** `undefined` when the pattern has no `*`, so that `first` is the whole text. */
  readonly last: string | undefined
}

export function parsePattern(pattern: string): NamePattern {
  const [first = '', ...rest] = pattern.split('*')
  const last = rest.pop()
  return { first, middle: rest.filter(Boolean), last }
}

/**
 * Whether a pattern matches a whole name. Each text is searched once, to the right of the text
 * before it: the earliest place leaves the most for the others. So no search is repeated, and the
 * time grows linearly with the lengths of name and pattern. An equivalent regular expression could
 * backtrack, and senders choose the names.
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
