import { type Event, keyOf } from '../../../core/message/event.ts'
import type { Message } from '../../../core/message/message.ts'
import type { Clock, EventCodec, LogProducer } from '../../../core/ports.ts'

interface Deps {
  readonly codec: EventCodec
  readonly producer: LogProducer
  readonly clock: Clock
  readonly topic: string
  readonly sourceId: string
  readonly onProduced?: (produced: number) => void
}

/** Writes messages to the events topic, as the collector does. */
export interface EventWriter {
  /**
   * Appends a message. Resolves when fewer than `maxWaiting` records wait for Kafka's
   * acknowledgement.
   */
  put(message: Message): Promise<void>
  /** The first error of Kafka. Later records fail too, so the caller stops. */
  failure(): Error | undefined
  /** Resolves when Kafka has acknowledged or rejected all records. */
  finish(): Promise<{ readonly produced: number; readonly failed: number }>
}

/**
 * Maximum records that wait for Kafka's acknowledgement: enough to fill the batches of the
 * producer.
 */
const maxWaiting = 5_000

export function createEventWriter({ codec, producer, clock, topic, sourceId, onProduced }: Deps): EventWriter {
  let waiting = 0
  let produced = 0
  let failed = 0
  let failure: Error | undefined
  let notifyRoom: (() => void) | undefined

  function onAck(error: Error | undefined): void {
    waiting -= 1
    if (error === undefined) onProduced?.(++produced)
    else failed += 1
    failure ??= error
    if (waiting < maxWaiting) notifyRoom?.()
  }

  return {
    async put(message) {
      const event: Event = {
        sourceId,
        destinationId: undefined,
        receivedAt: clock.now(),
        canonical: true,
        origin: undefined,
        message,
      }
      const key = keyOf(message)
      waiting += 1
      producer.append(
        topic,
        { key: key === undefined ? null : Buffer.from(key), value: codec.encode(event), headers: {} },
        onAck,
      )
      if (waiting >= maxWaiting) await new Promise<void>(resolve => (notifyRoom = resolve))
    },
    failure: () => failure,
    async finish() {
      await producer.flush()
      return { produced, failed }
    },
  }
}
