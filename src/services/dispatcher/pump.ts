import type { Clock } from '../../core/ports.ts'

/** Deliveries that are put off in one turn of the event loop: some milliseconds of work. Then it looks at what has come in meanwhile. */
export const mostInTurn = 64

/** What has become of the next delivery. `none`: nothing is ready, or no place is free. `other`: put off, dropped, put back, of which there may be any number. */
export type Step = 'none' | 'called' | 'other'

/**
 * Does one `step` after another until there is none; of those that are no call so many, and more in the next turn of the event loop. When
 * a breaker opens, hundreds that wait for it move to a retry topic, and answers and events for others would wait for all of them.
 */
export function createPump(clock: Pick<Clock, 'soon'>, step: () => Step): () => void {
  let isPumping = false
  let isDue = false

  function pump(): void {
    // What ends at once (a drop) asks for more from within: the loop that runs already goes on, without a deeper stack.
    if (isPumping || isDue) return
    isPumping = true
    let left = mostInTurn
    while (left > 0) {
      const done = step()
      if (done === 'none') break
      if (done === 'other') left--
    }
    isPumping = false
    if (left === 0) goOnSoon()
  }

  function goOnSoon(): void {
    isDue = true
    clock.soon(() => {
      isDue = false
      pump()
    })
  }

  return pump
}
