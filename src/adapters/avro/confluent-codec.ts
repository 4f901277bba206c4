import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import avsc from 'avsc'
import type { Clock, SchemaNeeded, Undecodable } from '../../core/ports.ts'
import { type Registry, RegistryUnavailable } from './schema-registry.ts'

/** How long the codec treats a schema id as unknown after the registry did not know it. */
const unknownForMs = 30_000
/** The maximum number of unknown ids that the codec remembers; it forgets the oldest first. */
const maxRemembered = 10_000
/**
 * The maximum difference between a plausible id and the highest known id. Registries number their
 * schemas consecutively, so a higher id most likely comes from a value that is not Avro.
 */
const plausibleLead = 1_000_000
/** The rate limit of look-ups for implausible ids: a burst of 20, then one per second. */
const implausible = { burst: 20, perMs: 1 / 1_000 }

/**
 * Decides for which schema ids to ask the registry, and remembers ids that the registry does not
 * have. Values that are not Avro contain random ids, which must not flood the registry with
 * requests.
 */
export class UnknownSchemaIds {
  readonly #clock: Pick<Clock, 'monotonic'>
  /** The monotonic time until which each id counts as unknown; the oldest entry comes first. */
  readonly #until = new Map<number, number>()
  #highestKnown: number
  /** The number of look-ups of implausible ids that are allowed now (a token bucket). */
  #tokens = implausible.burst
  #refilledAt: number

  constructor(clock: Pick<Clock, 'monotonic'>, knownId: number) {
    this.#clock = clock
    this.#highestKnown = knownId
    this.#refilledAt = clock.monotonic()
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

  /** Whether the registry said within the last 30 s that it does not know the id. */
  has(id: number): boolean {
    return this.#clock.monotonic() < (this.#until.get(id) ?? Number.NEGATIVE_INFINITY)
  }

  /**
   * The reason not to ask the registry for this id now; `undefined` when a look-up is allowed. A
   * look-up of an implausible id takes a token.
   */
  refusal(id: number): string | undefined {
    const now = this.#clock.monotonic()
    if (this.has(id)) return 'the registry does not have this id'
    if (id > 0 && id <= this.#highestKnown + plausibleLead) return undefined
    if (id <= 0) return 'schema ids are positive'
    this.#tokens = Math.min(implausible.burst, this.#tokens + (now - this.#refilledAt) * implausible.perMs)
    this.#refilledAt = now
    if (this.#tokens < 1) return 'it is far above all known ids, and too many look-ups of unknown ids have failed'
    this.#tokens--
    return undefined
  }
}

/** The registry does not have Hookline's own schema, with which Hookline would write records. */
export class SchemaNotRegistered extends Error {
  override readonly name = 'SchemaNotRegistered'
  readonly code = 'schema_not_registered'
}

/** The registry subject of a topic's values, by Confluent's default naming (TopicNameStrategy). */
export const subjectOf = (topic: string): string => `${topic}-value`

const require = createRequire(import.meta.url)
/**
 * Reads one of Hookline's schemas from the folder `schemas/` of the running package. Returns the
 * text that `hookline schemas register` registers.
 */
export const readSchemaText = (file: string): string =>
  JSON.stringify(JSON.parse(readFileSync(require.resolve(`#schemas/${file}.avsc`), 'utf8')))

/**
 * Describes the values of a topic. `Value` is the type that the code uses, `Stored` the record of
 * the Avro schema, `Read` the result of decoding, and `Context` an additional argument of decoding.
 */
export interface ValueFormat<Value, Stored, Read, Context> {
  /** The name of one value in error messages, with its article: `an event`. */
  readonly one: string
  /** The name of several values in error messages: `events`. */
  readonly many: string
  /** The Avro schema as JSON text. */
  readonly schema: string
  toStored(value: Value): Stored
  fromStored(stored: Stored, context: Context): Read
}

/** Encodes and decodes the values of one topic in Confluent's wire format. */
export interface AvroCodec<Value, Read, Context> {
  encode(value: Value): Buffer
  /** Returns `schema_needed` until `learn` has fetched the writer's schema. */
  decode(value: Buffer, context: Context): Read | Undecodable | SchemaNeeded
  /**
   * Fetches the schema of a writer. Resolves with false when the registry does not have the id, and
   * rejects with RegistryUnavailable while the registry cannot be used.
   */
  learn(schemaId: number): Promise<boolean>
}

interface Deps {
  readonly registry: Registry
  readonly topic: string
  readonly clock: Pick<Clock, 'monotonic'>
}

/** Bytes of the header in Confluent's wire format: a zero byte and the schema id as int32. */
const frameBytes = 5
/** How long `requireSameRegistry` trusts its last successful check. */
const sameRegistryForMs = 1_000

type Reader<Stored> =
  | { readonly kind: 'reader'; read(value: Buffer): Stored }
  | { readonly kind: 'refused'; detail: string }

/** Returns a function that creates codecs of one format. It compiles the format's schema once. */
export function avroCodecs<Value, Stored, Read, Context>({
  one,
  many,
  schema,
  toStored,
  fromStored,
}: ValueFormat<Value, Stored, Read, Context>): (deps: Deps) => Promise<AvroCodec<Value, Read, Context>> {
  const ownType = avsc.Type.forSchema(JSON.parse(schema), { wrapUnions: 'never', omitRecordMethods: true })

  /** Compiles a reader that resolves values of the schema `writer` to Hookline's schema. */
  function readerOf(writer: avsc.Type): Reader<Stored> {
    try {
      // Namespaces are ignored, because other teams may generate the record class in their own.
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
    const unknown = new UnknownSchemaIds(clock, own.id)
    let sameRegistryUntil = Number.NEGATIVE_INFINITY
    /** The look-ups in progress, by schema id. */
    const asking = new Map<number, Promise<boolean>>()
    const encodeStored = createEncoder<Stored>(ownType, own.id)

    /**
     * Checks that the registry still has Hookline's own schema. If it does not, the registry was
     * replaced or has lost its data, and a schema that it lacks must not dead-letter records.
     * @throws RegistryUnavailable
     */
    async function requireSameRegistry(id: number): Promise<void> {
      if (clock.monotonic() < sameRegistryUntil) return
      if ((await registry.lookUp(subject, schema)) === undefined)
        throw new RegistryUnavailable(`the registry at ${registry.url} has neither schema ${id} nor that of ${subject}`)
      sameRegistryUntil = clock.monotonic() + sameRegistryForMs
    }

    async function ask(id: number): Promise<boolean> {
      const found = await registry.findById(id)
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
            `not an Avro record with a schema id: the value starts with 0x${value.toString('hex', 0, frameBytes)}`,
          )
        const schemaId = value.readInt32BE(1)
        const reader = readers.get(schemaId)
        if (reader === undefined) {
          const refusal = asking.has(schemaId) ? undefined : unknown.refusal(schemaId)
          return refusal === undefined
            ? { kind: 'schema_needed', schemaId }
            : undecodable(`schema ${schemaId} is unknown: ${refusal}`)
        }
        if (reader.kind === 'refused')
          return undecodable(`schema ${schemaId} cannot be read as ${one}: ${reader.detail}`)
        try {
          return fromStored(reader.read(value), context)
        } catch (error) {
          return undecodable(`corrupt, or not written with schema ${schemaId}: ${oneLine(error)}`)
        }
      },
      async learn(schemaId) {
        if (readers.has(schemaId)) return true
        if (unknown.has(schemaId)) return false
        const inProgress = asking.get(schemaId)
        if (inProgress !== undefined) return inProgress
        const request = ask(schemaId).finally(() => asking.delete(schemaId))
        asking.set(schemaId, request)
        return request
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
      // If the buffer is too small, avsc returns the number of missing bytes as a negative number.
      scratch = newScratch(scratch.length - end)
      end = type.encode(stored, scratch, frameBytes)
    }
    return Buffer.from(scratch.subarray(0, end))
  }
}

/**
 * Checks that a decoded value ends where the bytes end. avsc's `fromBuffer` would do so too, but
 * needs a view of the bytes after the header, which costs as much as decoding a small record.
 * @throws Error when the value is truncated, or when bytes follow it
 */
function whole<Stored>({ value, offset }: { value: Stored; offset: number }, end: number): Stored {
  if (offset === end) return value
  throw new Error(offset < 0 ? 'truncated' : 'trailing data')
}

const undecodable = (detail: string): Undecodable => ({ kind: 'undecodable', detail })

const oneLine = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).replaceAll(/\s+/g, ' ').slice(0, 300)
