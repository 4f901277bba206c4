import { z } from 'zod'
import type { ObjectDocument, ObjectKind } from '../../core/config-objects/config-objects.ts'
import type { Switch } from '../../core/operator/objects-api.ts'
import {
  badResponse,
  type OperatorAddress,
  type OperatorAnswer,
  type OperatorRequest,
  type Refused,
  type RequestLimits,
  sendToOperator,
} from './operator-request.ts'

const object = z.object({
  id: z.string(),
  origin: z.enum(['file', 'api']),
  version: z.int(),
  state: z.string(),
  conflict: z.boolean(),
  changedBy: z.string().optional(),
  changedAt: z.string().optional(),
  /** Set when Hookline has disabled the destination because of its `lifecycle`. */
  disabledAutomatically: z
    .object({ at: z.string(), reason: z.enum(['failing', 'gone']), failingSince: z.string() })
    .optional(),
  problems: z.array(z.object({ path: z.string(), message: z.string(), hint: z.string() })),
  document: z.record(z.string(), z.unknown()),
  fingerprints: z.record(z.string(), z.string()),
})
/** A destination or source as the API shows it, with its secrets masked. */
export type ShownObject = z.infer<typeof object>

const pages = {
  destination: z.object({ destinations: z.array(object), next: z.string().optional() }),
  source: z.object({ sources: z.array(object), next: z.string().optional() }),
} as const

const changed = z.object({
  /** The new version; `undefined` after a deletion, and for a dry run. */
  version: z.int().optional(),
  /** The formatted paths of the changed fields. */
  changedFields: z.array(z.string()).default([]),
})
export type Changed = z.infer<typeof changed> & { readonly kind: 'changed' }

const secretRotated = z.object({ version: z.int(), secret: z.string(), rotatesAt: z.string().optional() })
export type SecretRotated = z.infer<typeof secretRotated> & { readonly kind: 'rotated' }

const keyRotated = z.object({ version: z.int(), writeKey: z.string(), keys: z.int() })
export type KeyRotated = z.infer<typeof keyRotated> & { readonly kind: 'rotated' }

const tested = z.object({
  messageId: z.string(),
  delivered: z.boolean(),
  responses: z.array(
    z.object({
      webhook: z.string(),
      request: z.object({ url: z.string(), headers: z.record(z.string(), z.string()) }),
      outcome: z.string(),
      status: z.int().optional(),
      failure: z.object({ phase: z.string(), code: z.string(), detail: z.string() }).optional(),
      tookMs: z.number(),
      responseBody: z
        .object({ text: z.string().optional(), contentEncoding: z.string().optional(), truncated: z.boolean() })
        .optional(),
    }),
  ),
})
export type Tested = z.infer<typeof tested> & { readonly kind: 'tested' }

const preview = z.union([
  z.object({
    requests: z.array(z.object({ webhook: z.string(), url: z.string(), headers: z.record(z.string(), z.string()) })),
    body: z.string(),
    paused: z.boolean().optional(),
  }),
  z.object({ reason: z.string(), message: z.string() }),
])
/** The requests that a destination would get for a message, or why it would get none. */
export type ShownPreview = z.infer<typeof preview>

const results = z.object({
  since: z.string(),
  delivered: z.number(),
  failed: z.number(),
  deadLettered: z.number(),
  dropped: z.number(),
})
/** The status of a destination. Unknown fields are kept, because `--json` prints them too. */
const destinationStatus = z.looseObject({
  id: z.string(),
  state: z.string(),
  partial: z.literal(true).optional(),
  waiting: z.array(z.object({ tier: z.string(), records: z.number(), oldestAt: z.string() })),
  circuitBreaker: z.object({ state: z.string(), nextProbeAt: z.string().optional() }),
  requestsInProgress: z.number(),
  inMemory: z.number(),
  pace: z.number().optional(),
  pausedUntil: z.string().optional(),
  results: z.object({ lastHour: results, lastDay: results }),
})
export type ShownStatus = z.infer<typeof destinationStatus>

/** Which objects are listed. Absent fields do not filter. */
export interface ListFilter {
  readonly state?: string | undefined
  readonly source?: string | undefined
  readonly q?: string | undefined
}

export interface ChangeOptions {
  /** The version that the caller has read; `absent` when the object does not exist. */
  readonly expected: number | 'absent'
  /** Whether the API only checks the change, and does not make it. */
  readonly dryRun: boolean
}

/**
 * The requests to the operator API about destinations and sources. All methods throw
 * `OperatorApiFailed`.
 */
export interface ObjectApiClient {
  /** All objects of a kind, sorted by id, read page by page. */
  list(kind: ObjectKind, filter?: ListFilter): Promise<readonly ShownObject[] | Refused>
  get(kind: ObjectKind, id: string): Promise<ShownObject | Refused>
  replace(kind: ObjectKind, id: string, document: ObjectDocument, options: ChangeOptions): Promise<Changed | Refused>
  delete(kind: ObjectKind, id: string, options: ChangeOptions): Promise<Changed | Refused>
  switch(id: string, to: Switch): Promise<Changed | Refused>
  /** `overlap` is how long the old secret stays valid, for example `24h`; the API has a default. */
  rotateSecret(id: string, overlap: string | undefined): Promise<SecretRotated | Refused>
  /** `keep` is the number of earlier write keys that stay valid; `undefined` keeps all. */
  rotateKey(id: string, keep: number | undefined): Promise<KeyRotated | Refused>
  test(id: string): Promise<Tested | Refused>
  /** `source` may be `undefined` if the destination has only one source. */
  preview(
    id: string,
    body: { readonly source: string | undefined; readonly message: unknown },
  ): Promise<ShownPreview | Refused>
  status(id: string): Promise<ShownStatus | Refused>
}

const pageSize = 500

export function createObjectApiClient(address: OperatorAddress, limits: RequestLimits): ObjectApiClient {
  const send = (request: OperatorRequest): Promise<OperatorAnswer> => sendToOperator(address, request, limits)

  /** Sends a request. Returns the checked body of the response, or the refusal. */
  async function ask<T>(request: OperatorRequest, schema: z.ZodType<T>): Promise<T | Refused> {
    const answer = await send(request)
    if (answer.kind === 'refused') return answer
    const parsed = schema.safeParse(answer.body)
    if (!parsed.success) throw badResponse(address.url, 200)
    return parsed.data
  }

  async function list(kind: ObjectKind, filter: ListFilter = {}): Promise<readonly ShownObject[] | Refused> {
    const objects: ShownObject[] = []
    let after: string | undefined
    do {
      const query = queryOf({ ...filter, after, limit: String(pageSize) })
      const request = { method: 'GET', path: `/v1/${kind}s${query}` } as const
      const found = kind === 'source' ? await ask(request, pages.source) : await ask(request, pages.destination)
      // `not_found`: the URL belongs to another service, or to a Hookline without these routes.
      if ('kind' in found && found.code === 'not_found') throw badResponse(address.url, 404)
      if ('kind' in found) return found
      objects.push(...('sources' in found ? found.sources : found.destinations))
      after = found.next
    } while (after !== undefined)
    return objects
  }

  const change = async (request: OperatorRequest): Promise<Changed | Refused> => {
    const answer = await ask(request, changed)
    return 'kind' in answer ? answer : { kind: 'changed', ...answer }
  }
  async function rotate<T extends object>(path: string, body: object, schema: z.ZodType<T>) {
    const answer = await ask({ method: 'POST', path, body }, schema)
    return 'kind' in answer ? (answer as Refused) : { kind: 'rotated' as const, ...answer }
  }

  return {
    list,
    get: (kind, id) => ask({ method: 'GET', path: pathOf(kind, id) }, object),
    replace: (kind, id, body, { expected, dryRun }) =>
      change({
        method: 'PUT',
        path: `${pathOf(kind, id)}${dryRunQuery(dryRun)}`,
        headers: precondition(expected),
        body,
      }),
    delete: (kind, id, { expected, dryRun }) =>
      change({ method: 'DELETE', path: `${pathOf(kind, id)}${dryRunQuery(dryRun)}`, headers: precondition(expected) }),
    switch: (id, to) => change({ method: 'POST', path: `${pathOf('destination', id)}/${to}` }),
    status: id => ask({ method: 'GET', path: `${pathOf('destination', id)}/status` }, destinationStatus),
    rotateSecret: (id, overlap) => rotate(`${pathOf('destination', id)}/rotate-secret`, { overlap }, secretRotated),
    rotateKey: (id, keep) => rotate(`${pathOf('source', id)}/rotate-key`, { keep }, keyRotated),
    preview: (id, body) => ask({ method: 'POST', path: `${pathOf('destination', id)}/preview`, body }, preview),
    async test(id) {
      const answer = await ask({ method: 'POST', path: `${pathOf('destination', id)}/test` }, tested)
      return 'kind' in answer ? answer : { kind: 'tested', ...answer }
    },
  }
}

const pathOf = (kind: ObjectKind, id: string): string => `/v1/${kind}s/${encodeURIComponent(id)}`

const precondition = (expected: ChangeOptions['expected']): Readonly<Record<string, string>> =>
  expected === 'absent' ? { 'if-none-match': '*' } : { 'if-match': `"${expected}"` }

const dryRunQuery = (isDryRun: boolean): string => (isDryRun ? '?dryRun=true' : '')

function queryOf(parameters: Readonly<Record<string, string | undefined>>): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) query.set(name, value)
  return `?${query}`
}
