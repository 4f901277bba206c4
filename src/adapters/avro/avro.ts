import type { Event } from '../../core/message/event.ts'
import type { Clock, Decoded, EventCodec } from '../../core/ports.ts'
import type { EpochMs } from '../../core/units.ts'
import { avroCodecs, schemaText } from './confluent-codec.ts'
import { type EventRecord, eventOf, recordOf } from './event-record.ts'
import type { Registry } from './schema-registry.ts'

/** The schema that events are written with, as `schemas register` registers it under `<events topic>-value`. */
export const eventSchema = schemaText('hookline.events-value')

const codecOf = avroCodecs<Event, EventRecord, Decoded, EpochMs>({
  one: 'an event',
  many: 'events',
  schema: eventSchema,
  toStored: recordOf,
  fromStored: eventOf,
})

interface Deps {
  readonly registry: Registry
  readonly eventsTopic: string
  readonly clock: Pick<Clock, 'monotonic'>
}

/**
 * The codec of the events topic. Asks the registry once for the id of our own schema.
 * @throws SchemaNotRegistered, RegistryUnavailable
 */
export const createEventCodec = ({ registry, eventsTopic, clock }: Deps): Promise<EventCodec> =>
  codecOf({ registry, topic: eventsTopic, clock })
