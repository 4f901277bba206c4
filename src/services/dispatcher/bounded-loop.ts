import { flowLimits } from '../../core/flow/flow-control-constants.ts'
import type { Clock } from '../../core/ports.ts'

const { maxPerTick } = flowLimits.dispatch

/**
 * Handles some deliveries, and returns how many of them got no attempt. `remaining` limits this
 * number, but a step may slightly exceed it. Returns `undefined` when no delivery is ready or no
 * permit is free.
 */
export type Step = (remaining: number) => number | undefined

/**
 * Repeats `step` until it returns `undefined`. After `maxPerTick` deliveries without an attempt,
 * continues in the next tick: hundreds of deferred deliveries would delay other destinations.
 */
export function createBoundedLoop(clock: Pick<Clock, 'soon'>, step: Step): () => void {
  let isRunning = false
  let isDue = false

  function run(): void {
    // `step` may call `run` again: a dropped delivery ends immediately, so that its partition may
    // admit more records. The inner call returns, and the outer call continues the loop.
    if (isRunning || isDue) return
    isRunning = true
    let remaining = maxPerTick
    while (remaining > 0) {
      const withoutAttempt = step(remaining)
      if (withoutAttempt === undefined) break
      remaining -= withoutAttempt
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
