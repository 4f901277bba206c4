import { EmissionPace } from '../../core/audience/emission-pace.ts'
import { Fifo } from '../../core/fifo.ts'
import type { Clock } from '../../core/ports.ts'
import { durationMs } from '../../core/units.ts'
import type { PartitionProcessor } from '../partitions/partition-processor.ts'

/** Lets identify messages go out at the rate that is configured now, all partitions together, first come first served. */
export interface Emissions {
  /** Resolves when the turn has come, or when the partition is not ours any more. */
  turn(processor: PartitionProcessor): Promise<void>
  /** How many wait. */
  waiting(): number
}

export function createEmissions(clock: Clock, perSecond: () => number): Emissions {
  const pace = new EmissionPace()
  const queue = new Fifo<{ readonly processor: PartitionProcessor; readonly go: () => void }>()
  let isTimed = false

  function serve(): void {
    for (let first = queue.peek(); first !== undefined; first = queue.peek()) {
      const wait = first.processor.revoked ? 0 : pace.take(clock.monotonic(), perSecond())
      if (wait > 0) return serveAfter(wait)
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
