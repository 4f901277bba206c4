import { createHash } from 'node:crypto'
import { processClock as clock } from '../../../src/adapters/clock/process-clock.ts'
import { createKafka } from '../../../src/adapters/kafka/kafkajs/client.ts'
import { createProducer } from '../../../src/adapters/kafka/producer/producer.ts'
import type { DeadLetterReason } from '../../../src/core/delivery/outcomes-reasons-and-classification.ts'
import type { JsonText } from '../../../src/core/message/canonical-json-text.ts'
import type { Event } from '../../../src/core/message/event.ts'
import { partitionFor } from '../../../src/core/message/partition-for-key.ts'
import type { EventCodec } from '../../../src/core/ports.ts'
import { epochMs } from '../../../src/core/time.ts'
import { paced } from '../../../src/services/pacer.ts'
import { trackMessage } from '../../support/collector/normalised-track-message.ts'
import { silent } from '../../support/telemetry/silent-logger.ts'
import { type Load, type LoadOptions, messageIdOf } from './event-load.ts'
import type { Sent } from './message-ledger.ts'

export interface Planned {
  readonly userId: string
  /** Kind of the invalid record. Absent if the record is valid. */
  readonly bad?: BadKind
}

export type BadKind = keyof typeof badKinds

/** Header with the id of a record. Hookline copies unknown headers to the dead letter. */
export const idHeader = 'chaos-id'

interface Bad {
  readonly reason: DeadLetterReason
  /**
   * Makes the value of the invalid record from a valid event, or from the random bytes `chance`.
   */
  value(event: Event, codec: EventCodec, chance: Buffer): Buffer | null
}

const schemaBytes = 5
/**
 * Size of a value that just fits into the events topic. The dead-letter topic accepts 2 MiB, so the
 * dead letter is not truncated.
 */
const nearlyTooLarge = 1_048_000

export const badKinds = {
  'JSON instead of Avro': {
    reason: 'undecodable',
    value: ({ message }) => Buffer.from(JSON.stringify({ type: message.type, userId: message.userId })),
  },
  'random bytes': {
    reason: 'undecodable',
    value: (_event, _codec, chance) => Buffer.concat([Buffer.from([0xff]), chance]),
  },
  'random bytes after a valid schema id': {
    reason: 'undecodable',
    value: (event, codec, chance) =>
      Buffer.concat([codec.encode(event).subarray(0, schemaBytes), Buffer.from([0xff]), chance]),
  },
  truncated: { reason: 'undecodable', value: (event, codec) => codec.encode(event).subarray(0, 20) },
  'unknown schema': {
    reason: 'undecodable',
    value: (event, codec) =>
      Buffer.concat([Buffer.from([0, 0x7f, 0xff, 0xff, 0x0f]), codec.encode(event).subarray(schemaBytes)]),
  },
  empty: { reason: 'undecodable', value: () => Buffer.alloc(0) },
  null: { reason: 'undecodable', value: () => null },
  'marked canonical with invalid JSON': {
    reason: 'undecodable',
    value: (event, codec) =>
      codec.encode({ ...event, message: { ...event.message, type: 'page', properties: '{"name":}' as JsonText } }),
  },
  'marked canonical with a time out of range': {
    reason: 'undecodable',
    value: (event, codec) => codec.encode({ ...event, message: { ...event.message, timestamp: epochMs(9e15) } }),
  },
  'delete without a deletion request': {
    reason: 'undecodable',
    value: (event, codec) => {
      const origin = { kind: 'deletion', id: 'd-1', version: undefined } as const
      return codec.encode({ ...event, origin, message: { ...event.message, type: 'delete', userId: 'victim' } })
    },
  },
  'nearly as large as the topic permits': {
    reason: 'undecodable',
    value: (_event, _codec, chance) => Buffer.concat([Buffer.from([0xff]), chance], nearlyTooLarge),
  },
  'event without a name': {
    reason: 'invalid_message',
    value: (event, codec) =>
      codec.encode({ ...event, canonical: false, message: { ...event.message, event: undefined } }),
  },
} as const satisfies Readonly<Record<string, Bad>>

/**
 * Writes records at an even rate. `plan` decides what the nth record is. Valid and invalid records
 * share the numbering.
 */
export const recordLoad =
  (plan: (number: number) => Planned) =>
  ({ brokers, topic, partitions, perSecond, codec, ledger }: LoadOptions): Load => {
    const kafka = createKafka({ brokers, clientId: 'load', tls: undefined, sasl: undefined }, silent)
    const producer = createProducer({ kafka, clock, logger: silent })
    const end = new AbortController()

    function send(number: number): void {
      const { userId, bad } = plan(number)
      const id = messageIdOf(number)
      const message = trackMessage(id, { userId })
      const event: Event = {
        ...{ sourceId: 'web', destinationId: undefined, origin: undefined, canonical: true },
        ...{ receivedAt: clock.now(), message },
      }
      const key = Buffer.from(userId)
      const partition = partitionFor(key, partitions)
      const headers = { [idHeader]: id }
      if (bad !== undefined) {
        const { reason, value }: Bad = badKinds[bad]
        const sent = { id, reason, acknowledged: false }
        ledger.bad.push(sent)
        const chance = createHash('sha256').update(id).digest()
        producer.append(topic, { key, value: value(event, codec, chance), headers, partition }, error => {
          sent.acknowledged = error === undefined
        })
        return
      }
      const sent: Sent = { id, partition, at: performance.now(), acknowledgedAt: undefined }
      ledger.sent.set(id, sent)
      producer.append(topic, { key, value: codec.encode(event), headers, partition }, error => {
        if (error === undefined) sent.acknowledgedAt = performance.now()
      })
    }

    const over = (async () => {
      for await (const number of paced({ count: Number.POSITIVE_INFINITY, perSecond }, clock, end.signal)) send(number)
    })()
    return {
      async stop() {
        end.abort()
        await over
        await producer.stop()
      },
    }
  }
