import { flowLimits } from '../../core/flow/limits.ts'
import type { Clock } from '../../core/ports.ts'

const { maxPerTick } = flowLimits.dispatch

/**
 * Handles the next deliveries, about `remaining` of them. Returns how many it deferred, dropped or
 * requeued; started attempts do not count. Returns `undefined` when no delivery is ready or no
 * permit is free.
 */
export type Step = (remaining: number) => number | undefined

/**
 * Repeats `step` until it returns `undefined`, or until its results add up to `maxPerTick`. In the
 * second case it continues in the next tick of the event loop. When a circuit breaker opens,
 * hundreds of queued deliveries are deferred: without this limit, responses and events of other
 * destinations would wait for all of them.
 */
export function createBoundedLoop(clock: Pick<Clock, 'soon'>, step: Step): () => void {
  let isRunning = false
  let isDue = false

  function run(): void {
    // When a delivery ends immediately (dropped), `run` is called again while its loop runs.
    // The inner call returns, and the loop continues.
    if (isRunning || isDue) return
    isRunning = true
    let remaining = maxPerTick
    while (remaining > 0) {
      const done = step(remaining)
      if (done === undefined) break
      remaining -= done
    }
    isRunning = false
    if (remaining <= 0) runSoon()
  }

  function runSoon(): void {
    isDue = true
    clock.soon(() => {
      isDue = false
      run()
    })
  }

  return run
}
