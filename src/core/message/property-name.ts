/** What separates words: anything but letters, the marks on them, and digits. */
const separators = /[^\p{L}\p{M}\p{N}]+/gu
const anySeparator = /[^\p{L}\p{M}\p{N}]/u
/** Where a word of camelCase ends: before a capital after a small letter or digit, and before the last capital of several. */
const camelBoundary = /(?<=[\p{Ll}\p{N}]\p{M}*)(?=\p{Lu})|(?<=\p{Lu}\p{M}*)(?=\p{Lu}\p{M}*\p{Ll})/gu

/**
 * The property that an audience is sent as: its name in snake_case (spec: "snake_case"). A number stays with the word
 * before it, `last 30days` → `last_30days`. Undefined when the name has no letter or digit.
 */
export function propertyOf(name: string): string | undefined {
  const trimmed = name.normalize('NFC').trim()
  const words = anySeparator.test(trimmed) ? trimmed : trimmed.replace(camelBoundary, '_')
  const property = words.toLowerCase().replace(separators, '_').replace(/^_|_$/g, '')
  return property === '' ? undefined : property
}
