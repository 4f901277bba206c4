import avsc from 'avsc'
import { boundedCollection } from '../../../src/adapters/avro/bounded-arrays-and-maps.ts'
import { eventSchema } from '../../../src/adapters/avro/event-codec.ts'
import type { FoundSchema, Registry } from '../../../src/adapters/avro/schema-registry.ts'
import { subjectOf } from '../../../src/adapters/avro/schema-texts-and-subject-names.ts'
import type { Event } from '../../../src/core/message/event.ts'
import { epochMs } from '../../../src/core/time.ts'

export const eventsTopic = 'hookline.events'

/** An in-memory schema registry. Hookline's schema has the id 1. */
export class MemoryRegistry implements Registry {
  readonly url = 'http://registry.test'
  readonly #own: { readonly subject: string; readonly schema: string }
  /** Ids of the requested schemas, in order. */
  readonly asked: number[] = []
  #schemas: (FoundSchema | Error)[] = []
  #ownIsRegistered = true

  constructor(own = { subject: subjectOf(eventsTopic), schema: eventSchema }) {
    this.#own = own
  }

  add(schema: object | FoundSchema | Error): number {
    const found = schema instanceof Error || 'kind' in schema ? schema : compiled(schema)
    return this.#schemas.push(found) + 1
  }

  replace(id: number, schema: object): void {
    this.#schemas[id - 2] = compiled(schema)
  }

  forgetOwn(): void {
    this.#ownIsRegistered = false
  }

  async findById(id: number): Promise<FoundSchema> {
    this.asked.push(id)
    const found = this.#schemas[id - 2] ?? { kind: 'unknown' }
    if (found instanceof Error) throw found
    return found
  }

  async lookUp(subject: string, schema: string): Promise<{ id: number; version: number } | undefined> {
    const isOwn = this.#ownIsRegistered && subject === this.#own.subject && schema === this.#own.schema
    return isOwn ? { id: 1, version: 1 } : undefined
  }

  register = notNeeded
  checkCompatibility = notNeeded
  compatibility = notNeeded
  setBackwardTransitive = notNeeded
}

const notNeeded = (): never => {
  throw new Error('the codec only reads')
}

const compiled = (schema: object): FoundSchema => ({
  kind: 'schema',
  type: avsc.Type.forSchema(schema as avsc.Schema, { wrapUnions: 'auto', typeHook: boundedCollection }),
})

/** Encodes a value. The result begins with the schema id, as in a Kafka record. */
export function written(schemaId: number, schema: object, value: object): Buffer {
  const frame = Buffer.alloc(5)
  frame.writeInt32BE(schemaId, 1)
  return Buffer.concat([frame, avsc.Type.forSchema(schema as avsc.Schema, { wrapUnions: 'auto' }).toBuffer(value)])
}

/** Hookline's schema with changed fields. */
export function schemaWith(change: (fields: { name: string }[]) => object[], name = 'hookline.Event'): object {
  const own = JSON.parse(eventSchema) as { fields: { name: string }[] }
  const { namespace: _own, ...schema } = own as typeof own & { namespace?: string }
  return { ...schema, name, fields: change(own.fields) }
}

export const trackEvent: Event = {
  sourceId: 'web',
  destinationId: undefined,
  receivedAt: epochMs(1_764_000_000_500),
  canonical: true,
  origin: undefined,
  message: {
    type: 'track',
    messageId: 'm-1',
    userId: 'u-1',
    anonymousId: undefined,
    groupId: undefined,
    previousId: undefined,
    event: 'Order Completed',
    name: undefined,
    category: undefined,
    timestamp: epochMs(1_764_000_000_000),
    properties: '{"total":12.5}' as Event['message']['properties'],
    traits: undefined,
    context: undefined,
    integrations: undefined,
  },
}
