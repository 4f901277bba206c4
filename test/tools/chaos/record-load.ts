import { createHash } from 'node:crypto'
import { systemClock as clock } from '../../../src/adapters/clock/clock.ts'
import { createKafka } from '../../../src/adapters/kafka/kafkajs/client.ts'
import { createProducer } from '../../../src/adapters/kafka/producer/producer.ts'
import type { DeadLetterReason } from '../../../src/core/delivery/outcome.ts'
import { type Event, partitionFor } from '../../../src/core/message/event.ts'
import type { EventCodec } from '../../../src/core/ports.ts'
import { epochMs, type JsonText } from '../../../src/core/units.ts'
import { paced } from '../../../src/services/pacer.ts'
import { trackMessage } from '../../support/collector/messages.ts'
import { silent } from '../../support/telemetry/silent-logger.ts'
import type { Sent } from './ledger.ts'
import { type Load, type LoadOptions, messageIdOf } from './load.ts'

/** What the n-th record is. */
export interface Planned {
  readonly userId: string
  /** Absent: a good one. */
  readonly bad?: BadKind
}

export type BadKind = keyof typeof badKinds

/** The header by which a dead letter tells which record it is: headers of others stay. */
export const idHeader = 'chaos-id'

interface Bad {
  readonly reason: DeadLetterReason
  /** Made of a good event, and of bytes that no two records have in common. */
  value(event: Event, codec: EventCodec, chance: Buffer): Buffer | null
}

const schemaBytes = 5
/** Below the topic's limit by less than the headers of a dead letter take. */
const nearlyTooLarge = 1_048_000

/** Everything that somebody else's producer has ever written. */
export const badKinds = {
  'JSON and not Avro': {
    reason: 'undecodable',
    value: ({ message }) => Buffer.from(JSON.stringify({ type: message.type, userId: message.userId })),
  },
  'random bytes': {
    reason: 'undecodable',
    value: (_event, _codec, chance) => Buffer.concat([Buffer.from([0xff]), chance]),
  },
  'random bytes behind a good schema': {
    reason: 'undecodable',
    value: (event, codec, chance) =>
      Buffer.concat([codec.encode(event).subarray(0, schemaBytes), Buffer.from([0xff]), chance]),
  },
  'cut short': { reason: 'undecodable', value: (event, codec) => codec.encode(event).subarray(0, 20) },
  'a schema that nobody knows': {
    reason: 'undecodable',
    value: (event, codec) =>
      Buffer.concat([Buffer.from([0, 0x7f, 0xff, 0xff, 0x0f]), codec.encode(event).subarray(schemaBytes)]),
  },
  empty: { reason: 'undecodable', value: () => Buffer.alloc(0) },
  null: { reason: 'undecodable', value: () => null },
  'marked canonical with broken JSON': {
    reason: 'undecodable',
    value: (event, codec) =>
      codec.encode({ ...event, message: { ...event.message, type: 'page', properties: '{"name":}' as JsonText } }),
  },
  'marked canonical with a time out of range': {
    reason: 'undecodable',
    value: (event, codec) => codec.encode({ ...event, message: { ...event.message, timestamp: epochMs(9e15) } }),
  },
  'a delete that nobody asked for': {
    reason: 'undecodable',
    value: (event, codec) => {
      const origin = { kind: 'deletion', id: 'd-1', version: undefined } as const
      return codec.encode({ ...event, origin, message: { ...event.message, type: 'delete', userId: 'victim' } })
    },
  },
  'as large as the topic takes': {
    reason: 'undecodable',
    value: (_event, _codec, chance) => Buffer.concat([Buffer.from([0xff]), chance], nearlyTooLarge),
  },
  'no name of the event': {
    reason: 'invalid_message',
    value: (event, codec) =>
      codec.encode({ ...event, canonical: false, message: { ...event.message, event: undefined } }),
  },
} as const satisfies Readonly<Record<string, Bad>>

/** A load of records as planned, evenly, until stopped. Good ones and bad ones have ids of one count. */
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
