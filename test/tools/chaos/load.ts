import { setImmediate as turn } from 'node:timers/promises'
import { systemClock as clock } from '../../../src/adapters/clock/clock.ts'
import { createKafka } from '../../../src/adapters/kafka/kafkajs/client.ts'
import { createProducer } from '../../../src/adapters/kafka/producer/producer.ts'
import { keyOf, partitionFor } from '../../../src/core/message/event.ts'
import type { EventCodec } from '../../../src/core/ports.ts'
import { paced } from '../../../src/services/pacer.ts'
import { trackMessage } from '../../support/collector/messages.ts'
import { silent } from '../../support/telemetry/silent-logger.ts'
import type { Ledger, Sent } from './ledger.ts'

export interface LoadOptions {
  readonly brokers: readonly string[]
  readonly topic: string
  readonly partitions: number
  readonly perSecond: number
  readonly codec: EventCodec
  readonly ledger: Ledger
  /** The number of the first event; 0. */
  readonly first?: number
}

export interface Load {
  /** Resolves when everything that was sent has been acknowledged or refused. */
  stop(): Promise<void>
}

const sendsATurn = 200
/** So few that the next message of a user comes a second or two after the one before: order is judged on many pairs. */
const users = 600
export const userIdOf = (number: number): string => `user-${number % users}`
/** Those that fail at first are told by the number. */
export const messageIdOf = (number: number): string => `m-${number}`
export const numberOf = (messageId: string): number => Number(messageId.slice('m-'.length))

/** Writes events evenly until stopped, each with an id of its own. What Kafka refuses is not sent again: nobody promised anything. */
export function startLoad({ brokers, topic, partitions, perSecond, codec, ledger, first = 0 }: LoadOptions): Load {
  const kafka = createKafka({ brokers, clientId: 'load', tls: undefined, sasl: undefined }, silent)
  const producer = createProducer({ kafka, clock, logger: silent })
  const end = new AbortController()

  function send(number: number): void {
    const id = messageIdOf(number)
    const message = trackMessage(id, { userId: userIdOf(number) })
    const event = {
      sourceId: 'web',
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
      // More than can be written must not keep everything else of this process from its turn.
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
