import { readFileSync } from 'node:fs'
import avsc from 'avsc'
import type { Clock, Decoded, EventCodec } from '../core/ports.ts'
import { type EventRecord, eventOf, recordOf } from './event-record.ts'
import { type Registry, RegistryUnavailable } from './registry.ts'

/** Our schema of an event is not in the registry: nothing may be written. */
export class SchemaNotRegistered extends Error {
  override readonly name = 'SchemaNotRegistered'
  readonly code = 'schema_not_registered'
}

/** The schema that events are written with, as `schemas register` registers it under `<events topic>-value`. */
export const eventSchema = JSON.stringify(
  JSON.parse(readFileSync(new URL('../../schemas/hookline.events-value.avsc', import.meta.url), 'utf8')),
)
/** TopicNameStrategy, what other clients assume. */
export const subjectOf = (topic: string): string => `${topic}-value`

const eventType = avsc.Type.forSchema(JSON.parse(eventSchema), { wrapUnions: 'never', omitRecordMethods: true })

/** Confluent's frame: a zero byte, the writer's schema id as int32, the Avro bytes. */
const frameBytes = 5
/** So long a schema id that the registry does not know is not asked for again. */
const unknownForMs = 30_000

interface Deps {
  readonly registry: Registry
  readonly eventsTopic: string
  readonly clock: Pick<Clock, 'monotonic'>
}

type Reader =
  | { readonly kind: 'reader'; read(value: Buffer): EventRecord }
  | { readonly kind: 'refused'; detail: string }

/**
 * The codec of the events topic. Asks the registry once for the id of our own schema.
 * @throws SchemaNotRegistered, RegistryUnavailable
 */
export async function createEventCodec({ registry, eventsTopic, clock }: Deps): Promise<EventCodec> {
  const subject = subjectOf(eventsTopic)
  const own = await registry.lookUp(subject, eventSchema)
  if (own === undefined)
    throw new SchemaNotRegistered(
      `the schema of events is not registered under ${subject} at ${registry.url}: run \`hookline schemas register\``,
    )
  const readers = new Map<number, Reader>([[own.id, readerOf(eventType)]])
  const unknownUntil = new Map<number, number>()
  const asking = new Map<number, Promise<boolean>>()

  async function ask(id: number): Promise<boolean> {
    const found = await registry.find(id)
    // Records are given up on this answer, so it must come from the registry that we started with.
    if (found.kind !== 'schema' && (await registry.lookUp(subject, eventSchema)) === undefined)
      throw new RegistryUnavailable(`the registry at ${registry.url} knows neither schema ${id} nor our own any more`)
    if (found.kind === 'unknown') unknownUntil.set(id, clock.monotonic() + unknownForMs)
    else readers.set(id, found.kind === 'schema' ? readerOf(found.type) : { kind: 'refused', detail: found.detail })
    return found.kind !== 'unknown'
  }

  return {
    encode: createEncoder(own.id),
    decode(value, receivedAt) {
      if (value.length < frameBytes || value[0] !== 0)
        return undecodable(
          `not an Avro record with a schema id: it starts with 0x${value.toString('hex', 0, frameBytes)}`,
        )
      const schemaId = value.readInt32BE(1)
      const reader = readers.get(schemaId)
      if (reader === undefined) return { kind: 'schema_needed', schemaId }
      if (reader.kind === 'refused')
        return undecodable(`schema ${schemaId} cannot be read as an event: ${reader.detail}`)
      try {
        return eventOf(reader.read(value), receivedAt)
      } catch (error) {
        return undecodable(`damaged, or not written with schema ${schemaId}: ${oneLine(error)}`)
      }
    },
    async learn(schemaId) {
      if (readers.has(schemaId)) return true
      if (clock.monotonic() < (unknownUntil.get(schemaId) ?? 0)) return false
      const under = asking.get(schemaId)
      if (under !== undefined) return under
      const answer = ask(schemaId).finally(() => asking.delete(schemaId))
      asking.set(schemaId, answer)
      return answer
    },
  }
}

/** Reads what was written with `writer` as our own version of an event; compiled once for each schema id. */
function readerOf(writer: avsc.Type): Reader {
  try {
    // Another namespace is no other record: producers of other teams generate their classes in their own.
    const resolver = writer === eventType ? undefined : eventType.createResolver(writer, { ignoreNamespaces: true })
    return { kind: 'reader', read: value => eventType.fromBuffer(value.subarray(frameBytes), resolver) }
  } catch (error) {
    return { kind: 'refused', detail: oneLine(error) }
  }
}

function createEncoder(schemaId: number): EventCodec['encode'] {
  let scratch = newScratch(16_384)
  function newScratch(size: number): Buffer {
    const buffer = Buffer.alloc(size)
    buffer.writeInt32BE(schemaId, 1)
    return buffer
  }
  return event => {
    const record = recordOf(event)
    let end = eventType.encode(record, scratch, frameBytes)
    if (end < 0) {
      // Minus the bytes that were missing.
      scratch = newScratch(scratch.length - end)
      end = eventType.encode(record, scratch, frameBytes)
    }
    return Buffer.from(scratch.subarray(0, end))
  }
}

const undecodable = (detail: string): Decoded => ({ kind: 'undecodable', detail })

const oneLine = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).replaceAll(/\s+/g, ' ').slice(0, 300)
