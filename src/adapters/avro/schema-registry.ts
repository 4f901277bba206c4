import { Agent } from 'node:https'
import { rootCertificates } from 'node:tls'
import { COMPATIBILITY, SchemaRegistry, SchemaType } from '@kafkajs/confluent-schema-registry'
import avsc from 'avsc'
import type { Settings } from '../../core/settings/settings.ts'

/** What avsc reads bytes with. `pos` beyond the end marks the bytes as damaged. */
interface Tap {
  readonly buf: Buffer
  pos: number
  readLong(): number
  skipString(): void
}
interface Skipping {
  _skip(tap: Tap): void
}

/*
 * avsc skips as many items as the bytes announce, however few bytes are left: with a foreign schema that has an array or a
 * map, one damaged record could hold the process for hours. No collection may have more items than there are bytes left.
 */
function skipItems(tap: Tap, skipItem: () => void): void {
  for (;;) {
    const count = tap.readLong()
    if (count === 0) return
    const left = tap.buf.length - tap.pos
    // A negative count announces a block by its size in bytes.
    const size = count < 0 ? tap.readLong() : 0
    if (count > left || size < 0 || size > left) {
      tap.pos = tap.buf.length + 1
      return
    }
    if (count < 0) tap.pos += size
    else for (let item = 0; item < count; item++) skipItem()
  }
}

class BoundedArray extends avsc.types.ArrayType {
  _skip(tap: Tap): void {
    const items = this.itemsType as unknown as Skipping
    skipItems(tap, () => items._skip(tap))
  }
}

class BoundedMap extends avsc.types.MapType {
  _skip(tap: Tap): void {
    const values = this.valuesType as unknown as Skipping
    skipItems(tap, () => {
      tap.skipString()
      values._skip(tap)
    })
  }
}

/** avsc's `typeHook`: compiles the collections of a foreign schema so that damaged bytes cannot hold the process. */
export const boundedCollection: avsc.ForSchemaOptions['typeHook'] = (schema, options) => {
  const kind = typeof schema === 'object' && 'type' in schema ? schema.type : undefined
  if (kind === 'array') return new BoundedArray(schema, options)
  if (kind === 'map') return new BoundedMap(schema, options)
  return undefined
}

/** The registry did not answer, or not as a schema registry does: nothing is known about any schema. */
export class RegistryUnavailable extends Error {
  override readonly name = 'RegistryUnavailable'
  readonly code = 'registry_unavailable'
}

/** What the registry holds under an id. `unusable`: no Avro schema that can be compiled. */
export type FoundSchema =
  | { readonly kind: 'schema'; readonly type: avsc.Type }
  | { readonly kind: 'unusable'; readonly detail: string }
  | { readonly kind: 'unknown' }

/** Where a schema stands in the registry. */
export interface RegisteredSchema {
  readonly id: number
  readonly version: number
}

/** A Confluent-compatible schema registry. Every method rejects with `RegistryUnavailable` within the time limit. */
export interface Registry {
  /** Without a trailing slash. */
  readonly url: string
  find(id: number): Promise<FoundSchema>
  /** Undefined: exactly this schema text is not registered under the subject. */
  lookUp(subject: string, schema: string): Promise<RegisteredSchema | undefined>
  /** Adds a version, the same one for the same text; or the registry's reason against it. */
  register(subject: string, schema: string): Promise<RegisteredSchema | { readonly refused: string }>
  /** Whether a schema may follow the subject's latest version; undefined: there is no version yet. */
  mayFollow(subject: string, schema: string): Promise<{ readonly may: boolean; readonly reason: string } | undefined>
  /** The subject's compatibility level; undefined when it has none of its own, which some registries tell as `NONE`. */
  compatibility(subject: string): Promise<string | undefined>
  /** Requires that the newest version can read whatever was written at any time. */
  requireBackwardTransitive(subject: string): Promise<void>
}

/** For one call with its retries: a registry that hangs must not hang its caller. */
const timeLimitMs = 5_000

type Answer = { data(): Record<string, unknown> }
type RestCall = (parameters: object) => Promise<Answer>
type Rest = Record<'registered' | 'register' | 'compatible' | 'config' | 'updateConfig', RestCall>

export function createRegistry(settings: Settings['registry'], limitMs = timeLimitMs): Registry {
  const url = settings.url.replace(/\/+$/, '')
  const client = createClient(url, settings, limitMs)
  // The client's own methods know neither version numbers nor compatibility; the REST calls behind them do.
  const rest: Rest = client['api'].Subject

  const unavailable = (reason: string, cause?: unknown): RegistryUnavailable =>
    new RegistryUnavailable(`the schema registry at ${url} cannot be used: ${reason}`, { cause })

  /** Makes a call; an answer with one of the statuses in `expected` is no failure of the registry. */
  async function ask(call: Promise<Answer>, ...expected: number[]): Promise<Answer | { readonly refused: string }> {
    try {
      return await call
    } catch (error) {
      const { status, reason } = failureOf(error, limitMs)
      if (expected.some(each => each === status)) return { refused: reason }
      throw unavailable(reason, error)
    }
  }

  async function lookUp(subject: string, schema: string): Promise<RegisteredSchema | undefined> {
    const answer = await ask(rest.registered({ subject, body: { schema } }), 404)
    if ('refused' in answer) return undefined
    const { id, version } = answer.data()
    if (typeof id === 'number' && typeof version === 'number') return { id, version }
    throw unavailable(
      'what answers there is no schema registry (the URL must end where the Confluent REST paths begin)',
    )
  }

  return {
    url,
    lookUp,
    async find(id) {
      try {
        const type: unknown = await client.getSchema(id)
        return avsc.Type.isType(type)
          ? { kind: 'schema', type: type as avsc.Type }
          : { kind: 'unusable', detail: 'it is not an Avro schema' }
      } catch (error) {
        const { status, reason } = failureOf(error, limitMs)
        if (status === 'none') return { kind: 'unusable', detail: reason }
        if (status === 404) return { kind: 'unknown' }
        throw unavailable(reason, error)
      }
    },
    async register(subject, schema) {
      const answer = await ask(rest.register({ subject, body: { schema } }), 409, 422)
      if ('refused' in answer) return answer
      // The answer has the id only.
      const registered = await lookUp(subject, schema)
      if (registered === undefined) throw unavailable(`it does not know the version of ${subject} it has just taken`)
      return registered
    },
    async mayFollow(subject, schema) {
      const answer = await ask(rest.compatible({ subject, body: { schema } }), 404)
      if ('refused' in answer) return undefined
      const { is_compatible: may, reason, messages } = answer.data()
      return { may: may === true, reason: String(reason ?? messages ?? '') }
    },
    async compatibility(subject) {
      const answer = await ask(rest.config({ subject }), 404)
      return 'refused' in answer ? undefined : String(answer.data()['compatibilityLevel']).toUpperCase()
    },
    async requireBackwardTransitive(subject) {
      await ask(rest.updateConfig({ subject, body: { compatibility: COMPATIBILITY.BACKWARD_TRANSITIVE } }))
    },
  }
}

function createClient(url: string, { auth, ca }: Settings['registry'], limitMs: number): SchemaRegistry {
  const isTls = /^https:/i.test(url)
  return new SchemaRegistry(
    {
      host: url,
      clientId: 'hookline',
      ...(isTls && ca !== undefined && { agent: new Agent({ ca: [...rootCertificates, ca] }) }),
      ...(auth && { auth: { username: auth.username.reveal(), password: auth.password.reveal() } }),
      retry: { retries: 2, initialRetryTimeInSecs: 0.1 },
      middlewares: [
        () => ({
          // The client has no limit of its own; this one also covers its retries.
          prepareRequest: async next => (await next()).enhance({ signal: AbortSignal.timeout(limitMs) }),
        }),
      ],
    },
    { [SchemaType.AVRO]: { wrapUnions: 'auto', typeHook: boundedCollection } },
  )
}

/**
 * What went wrong, in one line. The client gives every failed exchange a status, 400 also when there was no answer;
 * `none`: the exchange was good and what came of it is not.
 */
function failureOf(error: unknown, limitMs: number): { status: number | 'none'; reason: string } {
  if (!(error instanceof Error)) return { status: 'none', reason: String(error) }
  const reason = error.message.replace(/^hookline - (Error, status 400: )?/, '').replaceAll(/\s+/g, ' ')
  if (!('status' in error)) return { status: 'none', reason }
  return {
    status: Number(error.status),
    reason: /\baborted\b/.test(reason) ? `no answer within ${limitMs} ms` : reason,
  }
}
