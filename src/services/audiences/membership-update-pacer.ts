import { Fifo } from '../../core/collections/fifo.ts'
import { RateLimiter } from '../../core/flow/token-bucket-with-debt.ts'
import type { Clock } from '../../core/ports.ts'
import { durationMs } from '../../core/time.ts'
import type { PartitionProcessor } from '../partitions/partition-processor.ts'

/**
 * Limits the burst after a pause or a late timer to the messages that the configured rate allows in
 * this time, in ms.
 */
const burstMs = 100

/**
 * Limits the rate of the identify messages of this process, for all partitions together. Callers
 * send in the order of their `turn` calls.
 */
export interface MembershipUpdatePacer {
  /**
   * Resolves when the caller may send its next message, or after the partition was revoked. The
   * caller must check whether the partition was revoked.
   */
  turn(processor: PartitionProcessor): Promise<void>
  waiting(): number
  isWaiting(processor: PartitionProcessor): boolean
}

export function createMembershipUpdatePacer(clock: Clock, perSecond: () => number): MembershipUpdatePacer {
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
    isWaiting(processor) {
      for (const waiting of queue) if (waiting.processor === processor) return true
      return false
    },
  }
}
