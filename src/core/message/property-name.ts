/** Separators of words: all characters except letters, their combining marks, and digits. */
const separators = /[^\p{L}\p{M}\p{N}]+/gu
const anySeparator = /[^\p{L}\p{M}\p{N}]/u
/**
 * End of a word in camelCase: before a capital that follows a small letter or digit, and before the
 * last of several capitals.
 */
const camelBoundary = /(?<=[\p{Ll}\p{N}]\p{M}*)(?=\p{Lu})|(?<=\p{Lu}\p{M}*)(?=\p{Lu}\p{M}*\p{Ll})/gu

/**
 * Returns the trait name of an audience: its name in snake_case. A number stays with the word
 * before it: `last 30days` becomes `last_30days`. `undefined` when the name has no letter or digit.
 */
export function propertyOf(name: string): string | undefined {
  const trimmed = name.normalize('NFC').trim()
  const words = anySeparator.test(trimmed) ? trimmed : trimmed.replace(camelBoundary, '_')
  const property = words.toLowerCase().replace(separators, '_').replace(/^_|_$/g, '')
  return property === '' ? undefined : property
}
