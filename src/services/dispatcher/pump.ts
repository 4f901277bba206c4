import type { Clock } from '../../core/ports.ts'

/** Deliveries that are put off in one turn of the event loop: some milliseconds of work. Then it looks at what has come in meanwhile. */
const mostInTurn = 64

/**
 * Does something with the next deliveries and says how many of them it put off, dropped or put back, of which there may be any number; a call
 * is none of these. `left`: how many it should be at most. Undefined: nothing is ready, or no place is free.
 */
export type Step = (left: number) => number | undefined

/**
 * Does one `step` after another until there is none, or until so many deliveries are put off: more in the next turn of the event loop. When a
 * breaker opens, hundreds that wait for it move to a retry topic, and answers and events for others would wait for all of them.
 */
export function createPump(clock: Pick<Clock, 'soon'>, step: Step): () => void {
  let isPumping = false
  let isDue = false

  function pump(): void {
    // What ends at once (a drop) asks for more from within: the loop that runs already goes on, without a deeper stack.
    if (isPumping || isDue) return
    isPumping = true
    let left = mostInTurn
    while (left > 0) {
      const done = step(left)
      if (done === undefined) break
      left -= done
    }
    isPumping = false
    if (left <= 0) goOnSoon()
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
