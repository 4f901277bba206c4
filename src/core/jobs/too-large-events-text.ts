/**
 * Returns the end of a text about the progress of a resend: how many events were too large. Empty
 * when `count` is 0.
 */
export function tooLargeText(count = 0): string {
  if (count === 0) return ''
  return `, ${count} not resent because ${count === 1 ? 'it is' : 'they are'} too large for the retry topic`
}
