import type { Batch, SendResult } from '../../../packages/client/src/transport.ts'
import { createKafkaTransport } from '../../../packages/client-kafka/src/kafka-transport.ts'
import { createProducer } from '../../../src/adapters/kafka/producer/producer.ts'
import { scriptedKafkajs, storedResponse } from '../kafka/scripted-kafkajs.ts'
import { ManualClock } from '../manual-clock.ts'
import { silent } from '../telemetry/silent-logger.ts'
import { settled } from './sender-harness.ts'

/** How a produce request ends. `unanswered`: the records are stored, but the request fails. */
export type Outcome = 'stored' | 'failed' | 'unanswered' | 'too large'

const temporary = { type: 'LEADER_NOT_AVAILABLE', retriable: true }
const tooLarge = { type: 'MESSAGE_TOO_LARGE', retriable: false }

/**
 * The Kafka transport on the producer of the services. `outcomeOf` decides how the produce request
 * `turn` (from 1) ends.
 */
export function transportOnProducer(outcomeOf: (records: number, turn: number) => Outcome, recordBytes = 1) {
  const clock = new ManualClock()
  const content = Buffer.alloc(recordBytes)
  const ids = new Map<Buffer | string | null, string>()
  const sizes: number[] = []
  const stored: string[] = []
  const kafka = scriptedKafkajs(async request => {
    const { length } = request.messages
    const outcome = outcomeOf(length, sizes.push(length))
    if (outcome === 'stored' || outcome === 'unanswered')
      stored.push(...request.messages.map(({ value }) => ids.get(value) as string))
    if (outcome === 'stored') return storedResponse(request)
    throw Object.assign(new Error(outcome), outcome === 'too large' ? tooLarge : temporary)
  })
  const producer = createProducer({ kafka, clock, logger: silent })
  const transport = createKafkaTransport({
    sourceId: 'web',
    open: async () => ({
      encode({ message }) {
        const value = content.subarray()
        ids.set(value, message.messageId)
        return value
      },
      append: (key, value, maySend, onAck) => producer.append('events', { key, value, headers: {}, maySend }, onAck),
      flush: () => void producer.flush(),
    }),
    close: () => producer.stop(),
    now: () => clock.now(),
    machineTime: () => clock.now(),
    hold: () => () => {},
  })
  return {
    sizes,
    /** Message ids in the order of the log. */
    stored,
    async send(batch: Batch): Promise<SendResult> {
      const sending = transport.send(batch, 0, new AbortController().signal)
      await clock.advance(1_000, settled)
      return sending
    },
  }
}
