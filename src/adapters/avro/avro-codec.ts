import avsc from 'avsc'
import { flowLimits } from '../../core/flow/flow-control-constants.ts'
import type { Clock, SchemaNeeded, Undecodable } from '../../core/ports.ts'
import { boundedCollection } from './bounded-arrays-and-maps.ts'
import { UnknownSchemaIds } from './limit-schema-id-lookups.ts'
import { type Registry, RegistryUnavailable } from './schema-registry.ts'
import { SchemaNotRegistered, subjectOf } from './schema-texts-and-subject-names.ts'

/**
 * How Avro stores the values of one topic. `Value` is the type before encoding, `Stored` the type
 * of the Avro schema, and `Read` the type after decoding. `Context` is an argument of decoding.
 */
export interface ValueFormat<Value, Stored, Read, Context> {
  /** How error messages name one value, for example `an event`. */
  readonly one: string
  /** How error messages name several values, for example `events`. */
  readonly many: string
  /** The Avro schema as JSON text. */
  readonly schema: string
  toStored(value: Value): Stored
  fromStored(stored: Stored, context: Context): Read
}

/** Encodes and decodes the values of one topic in Confluent's wire format. */
export interface AvroCodec<Value, Read, Context> {
  encode(value: Value): Buffer
  /**
   * Returns `schema_needed` if the writer's schema is not known yet. The caller then awaits `learn`
   * and decodes the value again.
   */
  decode(value: Buffer, context: Context): Read | Undecodable | SchemaNeeded
  /**
   * Fetches a schema for `decode`. Resolves with false if the registry does not have the id.
   * Rejects with RegistryUnavailable if the registry cannot be used.
   */
  learn(schemaId: number): Promise<boolean>
}

interface Deps {
  readonly registry: Registry
  readonly topic: string
  readonly clock: Pick<Clock, 'monotonic' | 'after'>
}

/** The header in Confluent's wire format: a zero byte and the schema id as int32. */
const frameBytes = 5
/** Milliseconds for which a successful check by `requireSameRegistry` is not repeated. */
const sameRegistryForMs = 1_000
const ownSchemaOptions = { wrapUnions: 'never', omitRecordMethods: true, typeHook: boundedCollection } as const
const { schemaRetryEvery: retryEvery } = flowLimits.admission

type Reader<Stored> =
  | { readonly kind: 'reader'; read(value: Buffer): Stored }
  | { readonly kind: 'refused'; detail: string }

/** Returns a function that creates codecs of one format. The codecs share the compiled schema. */
export function avroCodecs<Value, Stored, Read, Context>({
  one,
  many,
  schema,
  toStored,
  fromStored,
}: ValueFormat<Value, Stored, Read, Context>): (deps: Deps) => Promise<AvroCodec<Value, Read, Context>> {
  const ownType = avsc.Type.forSchema(JSON.parse(schema), ownSchemaOptions)

  /** Compiles a reader that resolves values of the schema `writer` to Hookline's schema. */
  function readerOf(writer: avsc.Type): Reader<Stored> {
    try {
      // Other teams may generate the record class in their own namespace.
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
        `the schema of ${many} is not registered under ${subject} at ${registry.url}: run \`hookline schemas register\`, or correct registry.url`,
      )
    const readers = new Map<number, Reader<Stored>>([[own.id, readerOf(ownType)]])
    const unknown = new UnknownSchemaIds(clock, own.id)
    let sameRegistryUntil = Number.NEGATIVE_INFINITY
    /**
     * The look-ups in progress, by schema id. Concurrent calls of `learn` for an id share one
     * look-up.
     */
    const lookUpsInProgress = new Map<number, Promise<boolean>>()
    const encodeStored = createEncoder<Stored>(ownType, own.id)

    /**
     * Checks that the registry still has Hookline's own schema. If not, the registry has lost its
     * data. A record whose schema is missing may then be valid, so it must not be dead-lettered.
     * @throws RegistryUnavailable
     */
    async function requireSameRegistry(id: number): Promise<void> {
      if (clock.monotonic() < sameRegistryUntil) return
      if ((await registry.lookUp(subject, schema)) === undefined) throw new RegistryUnavailable(lostData(id))
      sameRegistryUntil = clock.monotonic() + sameRegistryForMs
    }

    const lostData = (id: number): string =>
      `the schema registry at ${registry.url} does not have Hookline's schema (subject ${subject}), and schema ${id} is missing or unusable: restore the data of the registry, or correct registry.url`

    async function ask(id: number): Promise<boolean> {
      const found = await registry.findById(id)
      if (found.kind !== 'schema') await requireSameRegistry(id)
      if (found.kind === 'unknown') {
        if (unknown.isAwaited(id)) return new Promise(resolve => clock.after(retryEvery, () => resolve(ask(id))))
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
          const refusal = lookUpsInProgress.has(schemaId) ? undefined : unknown.refusal(schemaId)
          return refusal === undefined
            ? { kind: 'schema_needed', schemaId }
            : undecodable(`schema ${schemaId} is unknown: ${refusal}`)
        }
        if (reader.kind === 'refused')
          return undecodable(`Hookline cannot read a value with schema ${schemaId} as ${one}: ${reader.detail}`)
        try {
          return fromStored(reader.read(value), context)
        } catch (error) {
          return undecodable(`the value is corrupt, or was not written with schema ${schemaId}: ${oneLine(error)}`)
        }
      },
      async learn(schemaId) {
        if (readers.has(schemaId)) return true
        if (unknown.has(schemaId)) return false
        const request =
          lookUpsInProgress.get(schemaId) ?? ask(schemaId).finally(() => lookUpsInProgress.delete(schemaId))
        lookUpsInProgress.set(schemaId, request)
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
      // If the buffer is too small, avsc returns minus the number of missing bytes.
      scratch = newScratch(scratch.length - end)
      end = type.encode(stored, scratch, frameBytes)
    }
    return Buffer.from(scratch.subarray(0, end))
  }
}

/**
 * Checks that the decoded value ends at the last byte. avsc's `fromBuffer` checks this too, but
 * needs a view of the bytes, which costs as much as decoding a small record.
 */
function whole<Stored>({ value, offset }: { value: Stored; offset: number }, end: number): Stored {
  if (offset === end) return value
  throw new Error(offset < 0 ? 'the value ends before the record is complete' : 'the value has bytes after the record')
}

const undecodable = (detail: string): Undecodable => ({ kind: 'undecodable', detail })

const oneLine = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).replaceAll(/\s+/g, ' ').slice(0, 300)
