import { Fifo } from '../../core/collections/fifo.ts'
import { RateLimiter } from '../../core/flow/rate-limiter.ts'
import type { Clock } from '../../core/ports.ts'
import { durationMs } from '../../core/time.ts'
import type { PartitionProcessor } from '../partitions/partition-processor.ts'

/**
 * Maximum burst of messages, as a time in ms. After a pause, or when a timer is late, this process
 * may send immediately as many messages as the configured rate allows in this time.
 */
const burstMs = 100

/**
 * Limits the rate at which this process writes identify messages to the configured rate. One limit
 * applies to all partitions together. Messages are sent in the order of the calls of `turn`.
 */
export interface UpdatePacer {
  /**
   * Resolves when the next message may be sent. Also resolves after the partition was revoked: the
   * caller must check this before it sends the message.
   */
  turn(processor: PartitionProcessor): Promise<void>
  /** Number of identify messages that wait for the rate limit. */
  waiting(): number
  /** Whether an identify message of the partition waits for the rate limit. */
  isWaiting(processor: PartitionProcessor): boolean
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
    isWaiting(processor) {
      for (const waiting of queue) if (waiting.processor === processor) return true
      return false
    },
  }
}
