import { Agent } from 'node:https'
import { rootCertificates } from 'node:tls'
import { COMPATIBILITY, SchemaRegistry, SchemaType } from '@kafkajs/confluent-schema-registry'
import avsc from 'avsc'
import type { Settings } from '../../core/settings/settings.ts'
import { boundedCollection } from './bounded-collections.ts'

/**
 * The error when the registry did not respond, responded with an unexpected status, or is not a
 * schema registry.
 */
export class RegistryUnavailable extends Error {
  override readonly name = 'RegistryUnavailable'
  readonly code = 'registry_unavailable'
  /** Whether the registry did not respond, or responded that it cannot serve requests now. */
  readonly isTransient: boolean

  constructor(message: string, { cause, isTransient = false }: { cause?: unknown; isTransient?: boolean } = {}) {
    super(message, { cause })
    this.isTransient = isTransient
  }
}

/**
 * The result of a look-up by id. `unusable` means that the registered schema is not Avro or cannot
 * be compiled; `unknown` means that the registry does not have the id, or rejects it as invalid.
 */
export type FoundSchema =
  | { readonly kind: 'schema'; readonly type: avsc.Type }
  | { readonly kind: 'unusable'; readonly detail: string }
  | { readonly kind: 'unknown' }

export interface RegisteredSchema {
  readonly id: number
  readonly version: number
}

/**
 * A client of a Confluent-compatible schema registry. When the registry cannot be used, every
 * method rejects with `RegistryUnavailable`.
 */
export interface Registry {
  /** The base URL without a trailing slash. */
  readonly url: string
  findById(id: number): Promise<FoundSchema>
  /** Looks up a schema by its text; `undefined` when `subject` has no version with this text. */
  lookUp(subject: string, schema: string): Promise<RegisteredSchema | undefined>
  /**
   * Registers a schema as the next version of `subject`. A text that is already registered keeps
   * its version. `refused` is the registry's reason for rejecting the schema.
   */
  register(subject: string, schema: string): Promise<RegisteredSchema | { readonly refused: string }>
  /**
   * Checks whether a schema is compatible with the latest version of `subject`; `undefined` when
   * there is no version yet.
   */
  checkCompatibility(
    subject: string,
    schema: string,
  ): Promise<{ readonly may: boolean; readonly reason: string } | undefined>
  /**
   * Returns the compatibility level of `subject`. For a subject without a level of its own, the
   * result is `undefined` or, with some registries, `NONE`.
   */
  compatibility(subject: string): Promise<string | undefined>
  /** Sets the compatibility level BACKWARD_TRANSITIVE: new versions must read all older records. */
  setBackwardTransitive(subject: string): Promise<void>
}

/** The time limit of one HTTP call, including its retries. */
const timeLimitMs = 5_000

type Answer = { data(): Record<string, unknown> }
type RestCall = (parameters: object) => Promise<Answer>
type Rest = Record<'registered' | 'register' | 'compatible' | 'config' | 'updateConfig', RestCall>

/** Creates the client, without a connection to the registry. */
export function createRegistry(settings: Settings['registry'], limitMs = timeLimitMs): Registry {
  const url = settings.url.replace(/\/+$/, '')
  const client = createClient(url, settings, limitMs)
  // The library's public methods return neither versions nor compatibility. Its internal REST calls
  // return them.
  const rest: Rest = client['api'].Subject

  const unavailable = (reason: string, cause?: unknown, isTransient = false): RegistryUnavailable =>
    new RegistryUnavailable(`the schema registry at ${url} cannot be used: ${reason}`, { cause, isTransient })

  /**
   * Awaits a REST call. If the registry responds with one of the statuses in `expected`, resolves
   * with the reason in that response as `refused`.
   */
  async function ask(call: Promise<Answer>, ...expected: number[]): Promise<Answer | { readonly refused: string }> {
    try {
      return await call
    } catch (error) {
      const { status, reason } = failureOf(error, limitMs)
      if (expected.some(each => each === status)) return { refused: reason }
      throw unavailable(reason, error, isTransientStatus(status))
    }
  }

  async function lookUp(subject: string, schema: string): Promise<RegisteredSchema | undefined> {
    const answer = await ask(rest.registered({ subject, body: { schema } }), 404)
    if ('refused' in answer) return undefined
    const { id, version } = answer.data()
    if (typeof id === 'number' && typeof version === 'number') return { id, version }
    throw unavailable(
      'the server at this URL is not a schema registry (registry.url must not have a REST path such as /subjects)',
    )
  }

  return {
    url,
    lookUp,
    async findById(id) {
      try {
        const type: unknown = await client.getSchema(id)
        return avsc.Type.isType(type)
          ? { kind: 'schema', type: type as avsc.Type }
          : { kind: 'unusable', detail: 'it is not an Avro schema' }
      } catch (error) {
        const { status, reason } = failureOf(error, limitMs)
        if (status === 'none') return { kind: 'unusable', detail: reason }
        if (isFinal(status)) return { kind: 'unknown' }
        throw unavailable(reason, error, isTransientStatus(status))
      }
    },
    async register(subject, schema) {
      const answer = await ask(rest.register({ subject, body: { schema } }), 409, 422)
      if ('refused' in answer) return answer
      // The response contains only the id, so the version is looked up.
      const registered = await lookUp(subject, schema)
      if (registered === undefined) throw unavailable(`it has lost the version of ${subject} that it just registered`)
      return registered
    },
    async checkCompatibility(subject, schema) {
      const answer = await ask(rest.compatible({ subject, body: { schema } }), 404)
      if ('refused' in answer) return undefined
      const { is_compatible: may, reason, messages } = answer.data()
      return { may: may === true, reason: String(reason ?? messages ?? '') }
    },
    async compatibility(subject) {
      const answer = await ask(rest.config({ subject }), 404)
      return 'refused' in answer ? undefined : String(answer.data()['compatibilityLevel']).toUpperCase()
    },
    async setBackwardTransitive(subject) {
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
          // The library has no time limit. This signal limits the call with its retries.
          prepareRequest: async next => (await next()).enhance({ signal: AbortSignal.timeout(limitMs) }),
        }),
      ],
    },
    { [SchemaType.AVRO]: { wrapUnions: 'auto', typeHook: boundedCollection } },
  )
}

/**
 * The HTTP status of a failed call. `no_response`: there was no response. `none`: the call
 * succeeded, but the content of the response is invalid.
 */
type FailedStatus = number | 'no_response' | 'none'

/** Whether the failed call had no response, or a response with a 5xx status. */
const isTransientStatus = (status: FailedStatus): boolean =>
  status === 'no_response' || status === 408 || status === 429 || (status !== 'none' && status >= 500)

/**
 * 4xx statuses that say nothing about the requested schema: the server rejects the client or its
 * credentials, or the request took too long, or there were too many requests.
 */
const notAboutTheSchema: readonly FailedStatus[] = [401, 403, 407, 408, 429]

/** Whether the registry has rejected the requested schema id, so that a retry has the same result. */
const isFinal = (status: FailedStatus): boolean =>
  typeof status === 'number' && status >= 400 && status < 500 && !notAboutTheSchema.includes(status)

/**
 * The beginning of the library's message for a call without a response. The library gives the
 * call the status 400. A real response with status 400 has the same message if its body is not the
 * JSON of a registry. It then counts as no response, because a proxy probably sent it.
 */
const withoutResponse = /^hookline - Error, status 400: /

/** Returns the status of a failed call, and the reason in one line. */
function failureOf(error: unknown, limitMs: number): { status: FailedStatus; reason: string } {
  if (!(error instanceof Error)) return { status: 'none', reason: String(error) }
  const reason = error.message
    .replace(withoutResponse, '')
    .replace(/^hookline - /, '')
    .replaceAll(/\s+/g, ' ')
  if (!('status' in error)) return { status: 'none', reason }
  return {
    status: withoutResponse.test(error.message) ? 'no_response' : Number(error.status),
    reason: /\baborted\b/.test(reason) ? `no response within ${limitMs} ms` : reason,
  }
}
