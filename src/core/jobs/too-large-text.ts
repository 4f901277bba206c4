/**
 * The end of the progress of a resend in words: the number of events that it cannot resend. Empty
 * when the number is 0.
 */
export function tooLargeText(count = 0): string {
  if (count === 0) return ''
  return `, ${count} not resent because ${count === 1 ? 'it is' : 'they are'} too large for the retry topic`
}
