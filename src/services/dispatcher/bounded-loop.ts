import { flowLimits } from '../../core/flow/limits.ts'
import type { Clock } from '../../core/ports.ts'

const { maxPerTick } = flowLimits.dispatch

/**
 * Handles about `remaining` deliveries. Returns how many it deferred, dropped or requeued, or
 * `undefined` when no delivery is ready or no permit is free. Started attempts do not count,
 * because the permits limit them.
 */
export type Step = (remaining: number) => number | undefined

/**
 * Creates a loop that repeats `step` until it returns `undefined`. After `maxPerTick` deliveries,
 * it continues in the next tick. Otherwise hundreds of deferrals, for example when a circuit
 * breaker opens, would delay other destinations.
 */
export function createBoundedLoop(clock: Pick<Clock, 'soon'>, step: Step): () => void {
  let isRunning = false
  let isDue = false

  function run(): void {
    // A dropped delivery ends immediately, which calls `run` again. The outer loop continues
    // anyway.
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
