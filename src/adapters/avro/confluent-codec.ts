import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import avsc from 'avsc'
import type { Clock, SchemaNeeded, Undecodable } from '../../core/ports.ts'
import { type Registry, RegistryUnavailable } from './schema-registry.ts'

/** How long a schema id that the registry does not know is not asked for again. */
const unknownForMs = 30_000
/** How many of them are remembered; the oldest go first. */
const maxRemembered = 10_000
/**
 * Registries number their schemas one after the other. An id that is ahead of all known ones by more
 * than this most likely comes from bytes that are not a record.
 */
const plausibleLead = 1_000_000
/** How many implausible ids are asked for all the same: 20 immediately, then one a second. */
const implausible = { burst: 20, perMs: 1 / 1_000 }

/** Remembers schema ids that the registry does not know, and decides which ids to ask it for. */
export class UnknownSchemas {
  readonly #clock: Pick<Clock, 'monotonic'>
  /** In the order in which they were noted. */
  readonly #until = new Map<number, number>()
  #highestKnown: number
  #questions = implausible.burst
  #countedAt: number

  constructor(clock: Pick<Clock, 'monotonic'>, knownId: number) {
    this.#clock = clock
    this.#highestKnown = knownId
    this.#countedAt = clock.monotonic()
  }

  noteKnown(id: number): void {
    this.#until.delete(id)
    this.#highestKnown = Math.max(this.#highestKnown, id)
  }

  noteUnknown(id: number): void {
    this.#until.delete(id)
    this.#until.set(id, this.#clock.monotonic() + unknownForMs)
    if (this.#until.size > maxRemembered) this.#until.delete(this.#until.keys().next().value as number)
  }

  get size(): number {
    return this.#until.size
  }

  /** By an answer of the registry that is not old yet. */
  has(id: number): boolean {
    return this.#clock.monotonic() < (this.#until.get(id) ?? Number.NEGATIVE_INFINITY)
  }

  /** Why an id is not asked for now; undefined: it is. */
  refusal(id: number): string | undefined {
    const now = this.#clock.monotonic()
    if (this.has(id)) return 'the registry does not know it'
    if (id > 0 && id <= this.#highestKnown + plausibleLead) return undefined
    if (id <= 0) return 'no schema has such an id'
    this.#questions = Math.min(implausible.burst, this.#questions + (now - this.#countedAt) * implausible.perMs)
    this.#countedAt = now
    if (this.#questions < 1) return 'it is far from all known ids, and too many of that kind are unknown'
    this.#questions--
    return undefined
  }
}

/** One of our schemas is not in the registry: nothing may be written. */
export class SchemaNotRegistered extends Error {
  override readonly name = 'SchemaNotRegistered'
  readonly code = 'schema_not_registered'
}

/** TopicNameStrategy, what other clients assume. */
export const subjectOf = (topic: string): string => `${topic}-value`

const require = createRequire(import.meta.url)
/** The text of one of our schemas, as `schemas register` registers it. Each package finds it in its own `schemas/`. */
export const schemaText = (file: string): string =>
  JSON.stringify(JSON.parse(readFileSync(require.resolve(`#schemas/${file}.avsc`), 'utf8')))

/** What the values of a topic are, and how they stand in its records. `Context`: what reading one needs beside its bytes. */
export interface Form<Value, Stored, Read, Context> {
  /** `an event`, `events`: for messages. */
  readonly one: string
  readonly many: string
  readonly schema: string
  toStored(value: Value): Stored
  fromStored(stored: Stored, context: Context): Read
}

/** Reads and writes the values of one topic. */
export interface AvroCodec<Value, Read, Context> {
  encode(value: Value): Buffer
  decode(value: Buffer, context: Context): Read | Undecodable | SchemaNeeded
  /** Fetches a writer's schema. False: the registry knows no such id. Rejects while the registry cannot be reached. */
  learn(schemaId: number): Promise<boolean>
}

interface Deps {
  readonly registry: Registry
  readonly topic: string
  readonly clock: Pick<Clock, 'monotonic'>
}

/** Confluent's frame: a zero byte, the writer's schema id as int32, the Avro bytes. */
const frameBytes = 5
/** How long the check that the registry is still the one of the start stays valid. */
const sameRegistryForMs = 1_000

type Reader<Stored> =
  | { readonly kind: 'reader'; read(value: Buffer): Stored }
  | { readonly kind: 'refused'; detail: string }

/** Makes codecs of one form; its schema is compiled here, once. */
export function avroCodecs<Value, Stored, Read, Context>({
  one,
  many,
  schema,
  toStored,
  fromStored,
}: Form<Value, Stored, Read, Context>): (deps: Deps) => Promise<AvroCodec<Value, Read, Context>> {
  const ownType = avsc.Type.forSchema(JSON.parse(schema), { wrapUnions: 'never', omitRecordMethods: true })

  /** Reads what was written with `writer` as our own version; compiled once for each schema id. */
  function readerOf(writer: avsc.Type): Reader<Stored> {
    try {
      // Another namespace is no other record: producers of other teams generate their classes in their own.
      const resolver = writer === ownType ? undefined : ownType.createResolver(writer, { ignoreNamespaces: true })
      return { kind: 'reader', read: value => whole(ownType.decode(value, frameBytes, resolver), value.length) }
    } catch (error) {
      return { kind: 'refused', detail: oneLine(error) }
    }
  }

  return async ({ registry, topic, clock }) => {
    const subject = subjectOf(topic)
    const own = await registry.lookUp(subject, schema)
    if (own === undefined)
      throw new SchemaNotRegistered(
        `the schema of ${many} is not registered under ${subject} at ${registry.url}: run \`hookline schemas register\``,
      )
    const readers = new Map<number, Reader<Stored>>([[own.id, readerOf(ownType)]])
    const unknown = new UnknownSchemas(clock, own.id)
    let sameRegistryUntil = Number.NEGATIVE_INFINITY
    const asking = new Map<number, Promise<boolean>>()
    const encodeStored = createEncoder<Stored>(ownType, own.id)

    /** Records become dead letters on an answer, so it must come from the registry that we started with. */
    async function requireSameRegistry(id: number): Promise<void> {
      if (clock.monotonic() < sameRegistryUntil) return
      if ((await registry.lookUp(subject, schema)) === undefined)
        throw new RegistryUnavailable(`the registry at ${registry.url} knows neither schema ${id} nor our own any more`)
      sameRegistryUntil = clock.monotonic() + sameRegistryForMs
    }

    async function ask(id: number): Promise<boolean> {
      const found = await registry.find(id)
      if (found.kind !== 'schema') await requireSameRegistry(id)
      if (found.kind === 'unknown') {
        unknown.noteUnknown(id)
        return false
      }
      unknown.noteKnown(id)
      readers.set(id, found.kind === 'schema' ? readerOf(found.type) : { kind: 'refused', detail: found.detail })
      return true
    }

    return {
      encode: value => encodeStored(toStored(value)),
      decode(value, context) {
        if (value.length < frameBytes || value[0] !== 0)
          return undecodable(
            `not an Avro record with a schema id: it starts with 0x${value.toString('hex', 0, frameBytes)}`,
          )
        const schemaId = value.readInt32BE(1)
        const reader = readers.get(schemaId)
        if (reader === undefined) {
          const refusal = asking.has(schemaId) ? undefined : unknown.refusal(schemaId)
          return refusal === undefined
            ? { kind: 'schema_needed', schemaId }
            : undecodable(`schema ${schemaId} is not known: ${refusal}`)
        }
        if (reader.kind === 'refused')
          return undecodable(`schema ${schemaId} cannot be read as ${one}: ${reader.detail}`)
        try {
          return fromStored(reader.read(value), context)
        } catch (error) {
          return undecodable(`damaged, or not written with schema ${schemaId}: ${oneLine(error)}`)
        }
      },
      async learn(schemaId) {
        if (readers.has(schemaId)) return true
        if (unknown.has(schemaId)) return false
        const under = asking.get(schemaId)
        if (under !== undefined) return under
        const answer = ask(schemaId).finally(() => asking.delete(schemaId))
        asking.set(schemaId, answer)
        return answer
      },
    }
  }
}

function createEncoder<Stored>(type: avsc.Type, schemaId: number): (stored: Stored) => Buffer {
  let scratch = newScratch(16_384)
  function newScratch(size: number): Buffer {
    const buffer = Buffer.alloc(size)
    buffer.writeInt32BE(schemaId, 1)
    return buffer
  }
  return stored => {
    let end = type.encode(stored, scratch, frameBytes)
    if (end < 0) {
      // Minus the bytes that were missing.
      scratch = newScratch(scratch.length - end)
      end = type.encode(stored, scratch, frameBytes)
    }
    return Buffer.from(scratch.subarray(0, end))
  }
}

/** Without a view of the bytes behind the frame, which costs as much as reading a small record. @throws Error when it does not end there */
function whole<Stored>({ value, offset }: { value: Stored; offset: number }, end: number): Stored {
  if (offset === end) return value
  throw new Error(offset < 0 ? 'truncated' : 'trailing data')
}

const undecodable = (detail: string): Undecodable => ({ kind: 'undecodable', detail })

const oneLine = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).replaceAll(/\s+/g, ' ').slice(0, 300)
