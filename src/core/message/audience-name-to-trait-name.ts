/** Separators of words: all characters except letters, their combining marks, and digits. */
const separators = /[^\p{L}\p{M}\p{N}]+/gu
const anySeparator = /[^\p{L}\p{M}\p{N}]/u
/** Matches the end of a word in camelCase: `last|Order`, `30|Days`, `VIP|Users`. */
const camelBoundary = /(?<=[\p{Ll}\p{N}]\p{M}*)(?=\p{Lu})|(?<=\p{Lu}\p{M}*)(?=\p{Lu}\p{M}*\p{Ll})/gu

/**
 * Returns the trait name of an audience: its name in snake_case, or `undefined` when the name has
 * no letter or digit.
 */
export function traitNameOf(name: string): string | undefined {
  const trimmed = name.normalize('NFC').trim()
  const words = anySeparator.test(trimmed) ? trimmed : trimmed.replace(camelBoundary, '_')
  const traitName = words.toLowerCase().replace(separators, '_').replace(/^_|_$/g, '')
  return traitName === '' ? undefined : traitName
}
