import avsc from 'avsc'
import type { Settings } from '../../core/settings/settings.ts'
import { boundedCollection } from './bounded-arrays-and-maps.ts'
import { createRegistryHttp, type RegistryResponse } from './registry-http.ts'

/**
 * The registry did not respond, responded with an unexpected status, or is not a schema registry.
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
 * The result of a look-up by id. `unusable`: the schema is not Avro or cannot be compiled.
 * `unknown`: the registry does not have the id, or rejects it as invalid.
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
  /** Without a trailing slash. */
  readonly url: string
  findById(id: number): Promise<FoundSchema>
  /** Returns `undefined` when `subject` has no version with this text. */
  lookUp(subject: string, schema: string): Promise<RegisteredSchema | undefined>
  /**
   * Registers a schema as the next version of `subject`. An already registered text keeps its
   * version. If the registry refuses the schema, `refused` is the reason.
   */
  register(subject: string, schema: string): Promise<RegisteredSchema | { readonly refused: string }>
  /** Checks a schema against the latest version of `subject`; `undefined` if it has no version. */
  checkCompatibility(
    subject: string,
    schema: string,
  ): Promise<{ readonly isCompatible: boolean; readonly reason: string } | undefined>
  /**
   * The compatibility level of `subject`. If only the global level applies: `undefined` or, with
   * some registries, `NONE`.
   */
  compatibility(subject: string): Promise<string | undefined>
  /** Sets the compatibility level BACKWARD_TRANSITIVE: new versions must read all older records. */
  setBackwardTransitive(subject: string): Promise<void>
}

/** Maximum time of one call with its retries. */
const timeLimitMs = 5_000

const notARegistry =
  'the server at this URL is not a schema registry (registry.url must not have a REST path such as /subjects)'

const checkUrl = 'check registry.url and the proxies between Hookline and the registry'

const checkServers = 'check that all registry servers behind this URL have the same data, then try again'

/** Creates the client without connecting to the registry. */
export function createRegistry(settings: Settings['registry'], limitMs = timeLimitMs): Registry {
  const url = settings.url.replace(/\/+$/, '')
  const call = createRegistryHttp(url, settings, limitMs)

  const unavailable = (reason: string, isTransient: boolean, cause?: unknown): RegistryUnavailable =>
    new RegistryUnavailable(`the schema registry at ${url} cannot be used: ${reason}`, { cause, isTransient })

  /**
   * Creates the error for a successful response that lacks `field`. Probably, a proxy has sent the
   * response, so a retry may succeed.
   */
  const missingFieldError = (field: string, text: string): RegistryUnavailable =>
    unavailable(oneLine(`no "${field}" in the response: ${text}`), true)

  /**
   * Sends a request. Returns the response if it is successful or `isExpected` accepts it.
   * @throws RegistryUnavailable
   */
  async function ask(
    [method, path, body]: Parameters<typeof call>,
    isExpected: (response: RegistryResponse) => boolean = () => false,
  ): Promise<RegistryResponse & { readonly isRefusal: boolean }> {
    const response = await call(method, path, body).catch((error: NodeJS.ErrnoException) => {
      throw unavailable(oneLine(error.message || String(error.code)), true, error)
    })
    const isRefusal = response.status < 200 || response.status > 299
    if (!isRefusal || isExpected(response)) return { ...response, isRefusal }
    throw unavailable(reasonOf(response), isTransient(response))
  }

  async function lookUp(subject: string, schema: string): Promise<RegisteredSchema | undefined> {
    const { isRefusal, body } = await ask(['POST', pathOf(subject), { schema }], isMissing)
    if (isRefusal) return undefined
    const { id, version } = body
    if (typeof id === 'number' && typeof version === 'number') return { id, version }
    throw unavailable(notARegistry, false)
  }

  /** Returns `undefined` if the registry does not have the schema. */
  async function schemaAt(path: string): Promise<StoredSchema | undefined> {
    const { isRefusal, body, text } = await ask(['GET', path], isFinal)
    if (isRefusal) return undefined
    const { schema, schemaType, references } = body
    if (typeof schema !== 'string') throw missingFieldError('schema', text)
    return { schema, schemaType, references: Array.isArray(references) ? references.filter(isReference) : [] }
  }

  return {
    url,
    lookUp,
    async findById(id) {
      const stored = await schemaAt(`/schemas/ids/${id}`)
      if (stored === undefined) return { kind: 'unknown' }
      if ((stored.schemaType ?? 'AVRO') !== 'AVRO') return { kind: 'unusable', detail: 'it is not an Avro schema' }
      const references = await referencesOf(stored, schemaAt)
      return references === undefined ? { kind: 'unknown' } : compiled([...references, stored.schema])
    },
    async register(subject, schema) {
      const answer = await ask(['POST', `${pathOf(subject)}/versions`, { schema }], hasStatus(409, 422))
      if (answer.isRefusal) return { refused: reasonOf(answer) }
      // The response has only the id, not the version.
      const registered = await lookUp(subject, schema)
      if (registered === undefined)
        throw unavailable(`it accepted a schema for ${subject}, but does not return the schema: ${checkServers}`, false)
      return registered
    },
    async checkCompatibility(subject, schema) {
      const path = `/compatibility${pathOf(subject)}/versions/latest`
      const { isRefusal, body, text } = await ask(['POST', path, { schema }], isMissing)
      if (isRefusal) return undefined
      const { is_compatible: isCompatible, reason, messages } = body
      if (typeof isCompatible !== 'boolean') throw missingFieldError('is_compatible', text)
      return { isCompatible, reason: String(reason ?? messages ?? '') }
    },
    async compatibility(subject) {
      const { isRefusal, body, text } = await ask(['GET', `/config/${encodeURIComponent(subject)}`], isMissing)
      if (isRefusal) return undefined
      const { compatibilityLevel: level } = body
      if (typeof level !== 'string') throw missingFieldError('compatibilityLevel', text)
      return level.toUpperCase()
    },
    async setBackwardTransitive(subject) {
      await ask(['PUT', `/config/${encodeURIComponent(subject)}`, { compatibility: 'BACKWARD_TRANSITIVE' }])
    },
  }
}

interface Reference {
  readonly subject: unknown
  readonly version: unknown
}

interface StoredSchema {
  readonly schema: string
  readonly schemaType: unknown
  readonly references: readonly Reference[]
}

const isReference = (value: unknown): value is Reference => typeof value === 'object' && value !== null

/**
 * Reads all schemas to which a schema refers, directly or not. Each one comes after the schemas to
 * which it refers. `undefined` if the registry lacks one of them.
 */
async function referencesOf(
  { references }: StoredSchema,
  schemaAt: (path: string) => Promise<StoredSchema | undefined>,
  visited = new Set<string>(),
): Promise<string[] | undefined> {
  const found: string[] = []
  for (const { subject, version } of references) {
    const path = `${pathOf(String(subject))}/versions/${version}`
    if (visited.has(path)) continue
    visited.add(path)
    const referenced = await schemaAt(path)
    const before = referenced && (await referencesOf(referenced, schemaAt, visited))
    if (referenced === undefined || before === undefined) return undefined
    found.push(...before, referenced.schema)
  }
  return found
}

/**
 * Compiles the schemas in order, because each may use named types of the earlier ones. Returns the
 * last schema.
 */
function compiled(schemas: readonly string[]): FoundSchema {
  try {
    const options = { wrapUnions: 'auto', typeHook: boundedCollection, registry: {} } as const
    const types = schemas.map(schema => avsc.Type.forSchema(JSON.parse(schema), options))
    return { kind: 'schema', type: types.at(-1) as avsc.Type }
  } catch (error) {
    return { kind: 'unusable', detail: oneLine((error as Error).message) }
  }
}

const pathOf = (subject: string): string => `/subjects/${encodeURIComponent(subject)}`

const hasStatus =
  (...statuses: number[]) =>
  ({ status }: RegistryResponse): boolean =>
    statuses.includes(status)

/** The 4xx statuses that concern permissions, a timeout (408) or the rate of requests (429). */
const isNotAboutTheSchema = hasStatus(401, 403, 407, 408, 429)

/** Whether the response has a status with which registries reject a schema or report it missing. */
const isAboutTheSchema = (response: RegistryResponse): boolean =>
  response.status >= 400 && response.status < 500 && !isNotAboutTheSchema(response)

/**
 * Whether a 4xx response is probably from a proxy and not from the registry, because it has neither
 * the `error_code` nor the `message` of a registry. It then says nothing about the schema.
 */
const isFromProxy = (response: RegistryResponse): boolean =>
  isAboutTheSchema(response) && response.body['message'] === undefined && response.body['error_code'] === undefined

/** Whether a later call may succeed, because the registry is overloaded or not reachable now. */
const isTransient = (response: RegistryResponse): boolean =>
  response.status >= 500 || hasStatus(408, 429)(response) || isFromProxy(response)

/** Whether the registry rejects the schema or does not have it, so that a retry cannot succeed. */
const isFinal = (response: RegistryResponse): boolean => isAboutTheSchema(response) && !isFromProxy(response)

/** Whether the registry does not have the subject or the version. */
const isMissing = (response: RegistryResponse): boolean => hasStatus(404)(response) && !isFromProxy(response)

function reasonOf(response: RegistryResponse): string {
  const { status, text, body } = response
  const reason = oneLine(String(body['message'] ?? `status ${status}${text && `: ${text}`}`))
  return isFromProxy(response) ? `${reason}; this response is not from a schema registry: ${checkUrl}` : reason
}

const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').slice(0, 300)
