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

/** Puts messages on the events topic as our own writers do. */
export interface Feed {
  /** Resolves when there is room for the next one. */
  put(message: Message): Promise<void>
  /** The first record that Kafka did not take, if any: what follows would fare no better. */
  failure(): Error | undefined
  /** Resolves when Kafka has answered for everything. */
  finish(): Promise<{ readonly produced: number; readonly failed: number }>
}

/** Records under way at once: enough for full batches, few enough for a small heap. */
const mostWaiting = 5_000

export function createFeed({ codec, producer, clock, topic, sourceId, onProduced }: Deps): Feed {
  let waiting = 0
  let produced = 0
  let failed = 0
  let failure: Error | undefined
  let room: (() => void) | undefined

  function onAck(error: Error | undefined): void {
    waiting -= 1
    if (error === undefined) onProduced?.(++produced)
    else failed += 1
    failure ??= error
    if (waiting < mostWaiting) room?.()
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
      if (waiting >= mostWaiting) await new Promise<void>(resolve => (room = resolve))
    },
    failure: () => failure,
    async finish() {
      await producer.flush()
      return { produced, failed }
    },
  }
}
