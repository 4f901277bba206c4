import { flowLimits } from '../../core/flow/limits.ts'
import type { Clock } from '../../core/ports.ts'

const { maxPerTick } = flowLimits.dispatch

/**
 * Handles about `remaining` deliveries. Returns how many of them it deferred, dropped or requeued.
 * Started attempts are not included, because the permits limit them. Returns `undefined` when no
 * delivery is ready or no permit is free.
 */
export type Step = (remaining: number) => number | undefined

/**
 * Creates a loop that repeats `step` until it returns `undefined`. When the numbers that `step`
 * returned add up to `maxPerTick`, the loop continues in the next tick of the event loop. For
 * example, a circuit breaker that opens causes hundreds of deferrals. Without the limit, responses
 * and events of other destinations would wait until all these deliveries are deferred.
 */
export function createBoundedLoop(clock: Pick<Clock, 'soon'>, step: Step): () => void {
  let isRunning = false
  let isDue = false

  function run(): void {
    // A delivery that is dropped ends immediately, and its end calls `run` again while the loop
    // runs. This inner call returns, because the outer loop continues anyway.
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
