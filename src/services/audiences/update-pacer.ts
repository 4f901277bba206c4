import { Fifo } from '../../core/collections/fifo.ts'
import { RateLimiter } from '../../core/flow/rate-limiter.ts'
import type { Clock } from '../../core/ports.ts'
import { durationMs } from '../../core/time.ts'
import type { PartitionProcessor } from '../partitions/partition-processor.ts'

/**
 * Maximum delay, in milliseconds, that the pacer compensates by sending the next messages faster.
 * After a longer pause it returns to the configured rate, so that no burst follows.
 */
const burstMs = 100

/**
 * Limits the identify messages of all partitions together to the configured rate, in the order of
 * the calls.
 */
export interface UpdatePacer {
  /** Resolves when the next message may be sent, or when the partition is revoked. */
  turn(processor: PartitionProcessor): Promise<void>
  /** Number of messages that wait. */
  waiting(): number
}

export function createUpdatePacer(clock: Clock, perSecond: () => number): UpdatePacer {
  const limiter = new RateLimiter(burstMs, clock.monotonic() - burstMs)
  const queue = new Fifo<{ readonly processor: PartitionProcessor; readonly go: () => void }>()
  let isTimed = false

  function serve(): void {
    for (let first = queue.peek(); first !== undefined; first = queue.peek()) {
      if (!first.processor.revoked) {
        const now = clock.monotonic()
        const wait = limiter.msToWait(now)
        if (wait > 0) return serveAfter(wait)
        limiter.spend(1, perSecond(), now)
      }
      queue.shift()
      first.go()
    }
  }

  function serveAfter(wait: number): void {
    isTimed = true
    clock.after(durationMs(wait), () => {
      isTimed = false
      serve()
    })
  }

  return {
    turn: processor =>
      new Promise(go => {
        queue.push({ processor, go })
        if (!isTimed) serve()
      }),
    waiting: () => queue.length,
  }
}
