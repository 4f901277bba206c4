import type { ConfigObject } from '../config-objects/config-objects.ts'
import { parseTimestamp } from '../message/timestamp.ts'
import { type EpochMs, epochMs, parseDuration } from '../time.ts'
import type { ShownProblem } from './object-refusal.ts'
import { type DestinationState, destinationStates, stateOf } from './object-view.ts'

/** Maximum and default number of objects in one page. */
export const pageLimits = { max: 500, default: 100 } as const

/** Selects the objects of a page. An absent field does not restrict the objects. */
export interface ObjectQuery {
  /** Only objects whose id sorts after this id. */
  readonly after?: string | undefined
  readonly limit: number
  readonly state?: DestinationState | undefined
  /** Only destinations of this source. */
  readonly source?: string | undefined
  /** Only objects with this text in their id or a masked webhook URL. */
  readonly q?: string | undefined
}

export type QueryRead<T> =
  | { readonly kind: 'query'; readonly query: T }
  | { readonly kind: 'invalid'; readonly problems: readonly ShownProblem[] }

type Given = Readonly<Record<string, unknown>>

/** Reads the query parameters of a list of destinations or sources. */
export function objectQueryOf(given: Given, kind: ConfigObject['kind']): QueryRead<ObjectQuery> {
  const known = kind === 'destination' ? ['after', 'limit', 'state', 'source', 'q'] : ['after', 'limit', 'q']
  const problems = [...unknownParameters(given, known)]
  const { limit = String(pageLimits.default), state } = given
  const size = typeof limit === 'string' && /^\d{1,4}$/.test(limit) ? Number(limit) : 0
  if (size < 1 || size > pageLimits.max)
    problems.push({
      path: 'limit',
      message: `must be a number from 1 to ${pageLimits.max}`,
      hint: 'to get more, request the next page with the parameter "after"',
    })
  const wanted = destinationStates.find(each => each === state)
  if (state !== undefined && wanted === undefined && known.includes('state'))
    problems.push({
      path: 'state',
      message: 'is not a state of a destination',
      hint: `use one of ${destinationStates.join(', ')}`,
    })
  if (problems.length > 0) return { kind: 'invalid', problems }
  const { after, source, q } = given as Readonly<Record<string, string | undefined>>
  return { kind: 'query', query: { after, limit: size, state: wanted, source, q } }
}

/**
 * Reads the query parameter `dryRun`. Only requests that replace, patch or delete an object accept
 * it.
 */
export function dryRunOf(given: Given, method: string): QueryRead<boolean> {
  const problems = [...unknownParameters(given, method === 'POST' ? [] : ['dryRun'])]
  const { dryRun = 'false' } = given
  if (typeof dryRun === 'string' && dryRun !== 'true' && dryRun !== 'false')
    problems.push({
      path: 'dryRun',
      message: 'must be "true" or "false"',
      hint: 'with "true", Hookline only checks the change; with "false" or without the parameter, it makes the change',
    })
  return problems.length > 0 ? { kind: 'invalid', problems } : { kind: 'query', query: dryRun === 'true' }
}

export function sinceOf(given: Given, now: EpochMs): QueryRead<EpochMs | undefined> {
  const problems = [...unknownParameters(given, ['since'])]
  const { time, problem } = timeIn(given, 'since', now)
  if (problem !== undefined && problems.length === 0) problems.push(problem)
  return problems.length > 0 ? { kind: 'invalid', problems } : { kind: 'query', query: time }
}

/** Reads a parameter that is a time, or a duration before now. Returns `{}` if it is missing. */
export function timeIn(
  given: Given,
  name: string,
  now: EpochMs,
): { readonly time?: EpochMs | undefined; readonly problem?: ShownProblem } {
  const value = given[name]
  if (value === undefined) return {}
  const ago = typeof value === 'string' ? parseDuration(value) : undefined
  const time = ago === undefined ? parseTimestamp(value) : epochMs(now - ago)
  if (time !== undefined) return { time }
  const hint = 'use ISO 8601 such as 2026-12-31T18:00:00Z, or a duration before now such as 24h'
  return { problem: { path: name, message: 'is neither a time nor a duration', hint } }
}

/**
 * Returns a problem for each parameter that is unknown or given twice. If Hookline ignored a
 * misspelled filter, the response would contain the wrong objects.
 */
export function* unknownParameters(given: Given, known: readonly string[]): Generator<ShownProblem> {
  const hint =
    known.length === 0 ? 'remove it; this path has no query parameters' : `the parameters are ${known.join(', ')}`
  for (const [path, value] of Object.entries(given)) {
    if (!known.includes(path))
      yield { path: path.slice(0, 60).toWellFormed(), message: 'is not a parameter of this path', hint }
    else if (typeof value !== 'string')
      yield { path, message: 'is in the query more than once', hint: 'send this parameter once' }
  }
}

export interface ObjectPage {
  readonly objects: readonly ConfigObject[]
  /** The value of `after` for the next page; `undefined` on the last page. */
  readonly next: string | undefined
}

/** Returns the page that a query selects. `objects` must be sorted by id. */
export function pageOf(objects: readonly ConfigObject[], query: ObjectQuery): ObjectPage {
  const { after, limit } = query
  const page: ConfigObject[] = []
  for (const object of objects) {
    if ((after !== undefined && object.id <= after) || !matches(object, query)) continue
    if (page.length === limit) return { objects: page, next: page.at(-1)?.id }
    page.push(object)
  }
  return { objects: page, next: undefined }
}

function matches(object: ConfigObject, { state, source, q }: ObjectQuery): boolean {
  if (state !== undefined && stateOf(object) !== state) return false
  const { sources, webhooks } = object.document
  if (source !== undefined && !(Array.isArray(sources) && sources.includes(source))) return false
  if (q === undefined) return true
  const urls = Array.isArray(webhooks)
    ? webhooks.map(webhook => String((webhook as { url?: unknown } | null)?.url))
    : []
  const text = q.toLowerCase()
  return [object.id, ...urls].some(each => each.toLowerCase().includes(text))
}
