import type { Event } from '../../core/message/event.ts'
import type { Clock, Decoded, EventCodec } from '../../core/ports.ts'
import type { EpochMs } from '../../core/time.ts'
import { avroCodecs } from './avro-codec.ts'
import { type EventRecord, fromEventRecord, toEventRecord } from './event-record.ts'
import type { Registry } from './schema-registry.ts'
import { readSchemaText } from './schema-texts-and-subject-names.ts'

/** The schema with which Hookline writes events. */
export const eventSchema = readSchemaText('hookline.events-value')

const codecOf = avroCodecs<Event, EventRecord, Decoded, EpochMs>({
  one: 'an event',
  many: 'events',
  schema: eventSchema,
  toStored: toEventRecord,
  fromStored: fromEventRecord,
})

interface Deps {
  readonly registry: Registry
  readonly eventsTopic: string
  readonly clock: Pick<Clock, 'monotonic' | 'after'>
}

/**
 * Creates the codec of the events topic.
 * @throws SchemaNotRegistered, RegistryUnavailable
 */
export const createEventCodec = ({ registry, eventsTopic, clock }: Deps): Promise<EventCodec> =>
  codecOf({ registry, topic: eventsTopic, clock })
