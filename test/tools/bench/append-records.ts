import type { LogProducer, OutgoingRecord } from '../../../src/core/ports.ts'

/**
 * Maximum number of unacknowledged records. It permits full batches, but needs only a small heap.
 */
const mostWaiting = 20_000

/**
 * Creates two functions. `one` appends a record, and waits if `mostWaiting` records are
 * unacknowledged. `all` waits for all acknowledgements. Both reject after their wait if a record
 * was refused.
 */
export function createAppend(producer: LogProducer, topic: string) {
  let waiting = 0
  let failure: Error | undefined
  let room: (() => void) | undefined
  const refuse = (): void => {
    if (failure !== undefined)
      throw new Error(`cannot append records to ${topic}: ${failure.message}`, { cause: failure })
  }
  return {
    async one(record: OutgoingRecord): Promise<void> {
      producer.append(topic, record, error => {
        failure ??= error
        if (--waiting <= mostWaiting / 2) room?.()
      })
      if (++waiting < mostWaiting) return
      await new Promise<void>(resolve => {
        room = resolve
      })
      refuse()
    },
    async all(): Promise<void> {
      await producer.flush()
      refuse()
    },
  }
}
