import { setImmediate as turn } from 'node:timers/promises'
import { processClock as clock } from '../../../src/adapters/clock/process-clock.ts'
import { createKafka } from '../../../src/adapters/kafka/kafkajs/client.ts'
import { createProducer } from '../../../src/adapters/kafka/producer/producer.ts'
import { keyOf } from '../../../src/core/message/event.ts'
import { partitionFor } from '../../../src/core/message/partition-for-key.ts'
import type { EventCodec } from '../../../src/core/ports.ts'
import { paced } from '../../../src/services/pacer.ts'
import { trackMessage } from '../../support/collector/normalised-track-message.ts'
import { silent } from '../../support/telemetry/silent-logger.ts'
import type { Ledger, Sent } from './message-ledger.ts'

export interface LoadOptions {
  readonly brokers: readonly string[]
  readonly topic: string
  readonly partitions: number
  readonly perSecond: number
  readonly codec: EventCodec
  readonly ledger: Ledger
  readonly first?: number
  readonly sourceId?: string
}

export interface Load {
  /** Stops sending. Resolves when everything that was sent is acknowledged or rejected. */
  stop(): Promise<void>
}

const sendsATurn = 200
/**
 * Number of users: small, so that the messages of a user follow each other closely, and their order
 * can be judged.
 */
const users = 600
export const userIdOf = (number: number): string => `user-${number % users}`
export const messageIdOf = (number: number): string => `m-${number}`
export const numberOf = (messageId: string): number => Number(messageId.slice('m-'.length))

/**
 * Writes events at an even rate, each with its own id. Events that Kafka rejects are not sent
 * again.
 */
export function startLoad(options: LoadOptions): Load {
  const { brokers, topic, partitions, perSecond, codec, ledger, first = 0, sourceId = 'web' } = options
  const kafka = createKafka({ brokers, clientId: 'load', tls: undefined, sasl: undefined }, silent)
  const producer = createProducer({ kafka, clock, logger: silent })
  const end = new AbortController()

  function send(number: number): void {
    const id = messageIdOf(number)
    const message = trackMessage(id, { userId: userIdOf(number) })
    const event = {
      sourceId,
      destinationId: undefined,
      receivedAt: clock.now(),
      canonical: true,
      origin: undefined,
      message,
    }
    const key = Buffer.from(keyOf(message) ?? '')
    const partition = partitionFor(key, partitions)
    const sent: Sent = { id: message.messageId, partition, at: performance.now(), acknowledgedAt: undefined }
    ledger.sent.set(sent.id, sent)
    producer.append(topic, { key, value: codec.encode(event), headers: {}, partition }, error => {
      if (error === undefined) sent.acknowledgedAt = performance.now()
    })
  }

  const over = (async () => {
    const numbers = paced({ count: Number.POSITIVE_INFINITY, perSecond }, clock, end.signal)
    for await (const number of numbers) {
      send(first + number)
      // Yield regularly, because a fast load must not block this process.
      if (number % sendsATurn === 0) await turn()
    }
  })()
  return {
    async stop() {
      end.abort()
      await over
      await producer.stop()
    },
  }
}
