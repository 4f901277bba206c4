import type { Clock } from '../../core/ports.ts'

/** Two for a delivery with one webhook. A wave of thousands would outlive the young objects' space, with all that each one holds. */
const mostEnds = 128

/**
 * To be called with what has ended: a call, a delivery. What ends in one turn of the event loop is followed together, by one call of `follow`,
 * which costs less than one by one (decision 43); of much each part.
 */
export function createFollowUp<Ended>(
  clock: Pick<Clock, 'soon'>,
  follow: (ended: readonly Ended[]) => void,
): (what: Ended) => void {
  let ended: Ended[] = []
  let isDue = false

  function followNow(): void {
    const followed = ended
    ended = []
    follow(followed)
  }

  return what => {
    if (ended.push(what) >= mostEnds) return followNow()
    if (isDue) return
    isDue = true
    clock.soon(() => {
      isDue = false
      followNow()
    })
  }
}
