import type { Clock } from '../../core/ports.ts'

/** Two for a delivery with one webhook. A wave of thousands would outlive the young objects' space, with all that each one holds. */
const mostEnds = 128

/**
 * To be called when a call or a delivery has ended. What ends in one turn of the event loop is followed together, by one call of `follow`
 * with their number, which costs less than one by one (decision 16); of much each part.
 */
export function createFollowUp(clock: Pick<Clock, 'soon'>, follow: (ends: number) => void): () => void {
  let ends = 0
  let isDue = false

  function followNow(): void {
    const followed = ends
    ends = 0
    follow(followed)
  }

  return () => {
    if (++ends >= mostEnds) return followNow()
    if (isDue) return
    isDue = true
    clock.soon(() => {
      isDue = false
      followNow()
    })
  }
}
