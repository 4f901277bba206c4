import { Fifo } from '../../core/collections/fifo.ts'
import { RateLimiter } from '../../core/flow/rate-limiter.ts'
import type { Clock } from '../../core/ports.ts'
import { durationMs } from '../../core/units.ts'
import type { PartitionProcessor } from '../partitions/partition-processor.ts'

/** Lost time that is made up for: no flood may follow a halt. */
const burstMs = 100

/** Lets identify messages go out at the rate that is configured now, all partitions together, first come first served. */
export interface MembershipUpdates {
  /** Resolves when the turn has come, or when the partition is not ours any more. */
  turn(processor: PartitionProcessor): Promise<void>
  /** How many wait. */
  waiting(): number
}

export function createMembershipUpdates(clock: Clock, perSecond: () => number): MembershipUpdates {
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
