import { hash } from 'node:crypto'
import { hasUnknownSources, type Routing } from '../delivery/route.ts'
import { type Event, maxNamedDestinations } from '../message/event.ts'
import { isObject } from '../message/json.ts'
import { idOf, tooLongUserId } from '../message/message-ids-and-required-identifiers.ts'
import type { Rejection } from '../message/message-rejection.ts'
import { audiencesSource, ownEvent } from '../message/own-event-builder-and-source-ids.ts'
import { type Parsed, parseField } from '../message/parse-message-json.ts'
import { membersIn } from '../message/split-json.ts'
import { type EpochMs, epochMs } from '../time.ts'
import type { DeletionRecord } from './deletion-record-and-status.ts'
import type { Suppression } from './suppressions.ts'

const ours = /^([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

/**
 * Creates a UUIDv7 (RFC 9562) from the time of the request and `unique`, which can be any new id.
 */
export function newDeletionId(now: EpochMs, unique: string): string {
  const time = now.toString(16).padStart(12, '0')
  const chance = hash('sha256', unique)
  const variant = '89ab'[Number.parseInt(chance.slice(15, 16), 16) & 3]
  return [
    time.slice(0, 8),
    time.slice(8),
    `7${chance.slice(0, 3)}`,
    `${variant}${chance.slice(3, 6)}`,
    chance.slice(16, 28),
  ].join('-')
}

/**
 * The time in a deletion id. `undefined` if the id has another form, because an operator or an
 * earlier version of Hookline chose it.
 */
export function deletionRequestedAt(id: string): EpochMs | undefined {
  const [, high = '', low = ''] = ours.exec(id) ?? []
  return high === '' ? undefined : epochMs(Number.parseInt(high + low, 16))
}

/** A request to delete users, from `POST /v1/regulations` or `hookline delete-user`. */
export interface DeletionRequest {
  /** The ids of the users, without duplicates. */
  readonly userIds: readonly string[]
  /** `undefined` selects every source. */
  readonly sources: readonly string[] | undefined
  /** Whether Hookline stops events of these users that arrive after the request. */
  readonly suppress: boolean
}

export type DeletionRequestResult =
  | { readonly kind: 'request'; readonly request: DeletionRequest }
  /** `message` names the field and says what to do. */
  | { readonly kind: 'refused'; readonly code: 'invalid_body' | 'unknown_source'; readonly message: string }

/** Maximum number of users in one request. */
export const maxUsers = 5_000

/**
 * Maximum pairs of a user and a named source in one request. Every process keeps a suppression for
 * each pair in memory for weeks.
 */
export const maxUserSourcePairs = 50_000

const fields = ['userIds', 'sources', 'suppress']

/**
 * Parses the JSON text of a request. A whole number in `userIds` becomes its digits as written. Any
 * other number becomes null, because `JSON.parse` would change it to the id of another user: 1000.0
 * to 1000.
 */
export function parseDeletionText(text: string): Parsed | Rejection {
  const parsed = parseField(text, 'The body')
  if (parsed.kind === 'rejected' || !isObject(parsed.value)) return parsed
  const { userIds } = parsed.value
  if (
    !Array.isArray(userIds) ||
    !userIds.some(isNumber) ||
    !userIds.every(id => isNumber(id) || typeof id === 'string')
  )
    return parsed
  const written = membersIn(text, ['userIds']).get('userIds') ?? ''
  return { kind: 'parsed', value: { ...parsed.value, userIds: JSON.parse(written, digitsAsWritten) } }
}

const isNumber = (value: unknown): value is number => typeof value === 'number'

/** A reviver for `JSON.parse`. */
function digitsAsWritten(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (!isNumber(value)) return value
  const { source = '' } = context ?? {}
  return /^-?\d+$/.test(source) ? source : null
}

/**
 * Parses a deletion request, for example the value from `parseDeletionText`. An unknown key is
 * rejected, because with a misspelled `sources`, users would be deleted for every source.
 */
export function parseDeletionRequest(input: unknown, routing: Pick<Routing, 'sources'>): DeletionRequestResult {
  if (!isObject(input)) return invalid('The body must be a JSON object: send { "userIds": […] }.')
  const unknown = Object.keys(input).find(key => !fields.includes(key))
  if (unknown !== undefined)
    return invalid(`${JSON.stringify(unknown.slice(0, 60))} is not a known key: the keys are ${fields.join(', ')}.`)
  const { userIds, sources, suppress = false } = input
  const users = listOf(userIds, idText)
  if (users === undefined)
    return invalid(
      "'userIds' must be a list of at least one user id. A user id is a string, or a whole number without a decimal point or exponent.",
    )
  const [long] = users.flatMap(userId => tooLongUserId(userId) ?? [])
  if (long !== undefined) return invalid(`'userIds': a user id ${long}.`)
  if (users.length > maxUsers)
    return invalid(`'userIds' has ${users.length} ids, at most ${maxUsers} are allowed: send several requests.`)
  if (typeof suppress !== 'boolean') return invalid("'suppress' must be true or false.")
  const only = sources === undefined || sources === null ? undefined : listOf(sources, textId)
  if (sources !== undefined && sources !== null && only === undefined)
    return invalid("'sources' must be a list of at least one source id; omit 'sources' for all sources.")
  const unknownSource = only?.find(id => !routing.sources.has(id))
  if (unknownSource !== undefined)
    return {
      kind: 'refused',
      code: 'unknown_source',
      message: `'sources': no source has the id ${JSON.stringify(unknownSource.slice(0, 60))}: use ids of configured sources.`,
    }
  const pairs = users.length * (only?.length ?? 0)
  if (pairs > maxUserSourcePairs)
    return invalid(
      `The request has ${pairs} pairs of a user and a source, but the maximum is ${maxUserSourcePairs}: send several requests with fewer users, or omit 'sources' to delete the users in all sources.`,
    )
  return { kind: 'request', request: { userIds: users, sources: only, suppress } }
}

const invalid = (message: string): DeletionRequestResult => ({ kind: 'refused', code: 'invalid_body', message })
const idText = (value: unknown): string | undefined => (typeof value === 'string' ? idOf(value) : undefined)
const textId = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

function listOf(value: unknown, toId: (item: unknown) => string | undefined): readonly string[] | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined
  const ids = value.map(toId)
  return ids.every(id => id !== undefined) ? [...new Set(ids)] : undefined
}

/**
 * Returns why deletions must be refused now, or `undefined`. While the settings of a destination
 * are unreadable, a deletion could leave out the delete messages for this destination.
 */
export function unknownDestinationProblem({ destinations, isIncomplete }: Routing): string | undefined {
  if (isIncomplete === true)
    return 'Hookline cannot read the id of a destination from a file in destinationsFrom, so this destination could miss a delete message: correct the file (the log has its name), then request the deletion again.'
  for (const destination of destinations.values())
    if (hasUnknownSources(destination))
      return `Hookline cannot read "sources" of the destination ${JSON.stringify(destination.id)}, so it cannot decide whether the destination gets a delete message: correct the configuration of the destination, then request the deletion again.`
  return undefined
}

/** The record of an accepted deletion, with the enabled destinations of the current routing. */
export function deletionOf(
  { userIds, sources, suppress }: DeletionRequest,
  id: string,
  at: EpochMs,
  routing: Routing,
): DeletionRecord {
  const affected = (sources ?? [...routing.sources.keys()]).map(source => ({
    id: source,
    destinations: (routing.bySource.get(source) ?? [])
      .filter(({ enabled }) => enabled)
      .map(destination => destination.id),
  }))
  return {
    id,
    createdAt: at,
    users: userIds.length,
    isSuppressed: suppress,
    sources: sources === undefined ? affected.filter(({ destinations }) => destinations.length > 0) : affected,
  }
}

/**
 * The suppressions of each user: one for all sources, or one per named source and one for
 * membership updates (`audiencesSource`).
 */
export function suppressionsOf({ sources, suppress }: DeletionRequest, at: EpochMs): readonly Suppression[] {
  const scopes = sources === undefined ? [undefined] : [...sources, audiencesSource]
  return scopes.map(source => ({ source, deletedAt: at, isSuppressed: suppress }))
}

/**
 * Returns, for each user and source, one message per 1,000 destinations. If a process writes the
 * messages a second time, they have the same ids.
 */
export function* deleteMessagesOf(
  { userIds }: DeletionRequest,
  { id, createdAt, sources }: DeletionRecord,
): Iterable<Event> {
  for (const userId of userIds)
    for (const source of sources)
      for (let first = 0; first < source.destinations.length; first += maxNamedDestinations)
        yield deleteOf({ request: id, userId, source, first }, createdAt)
}

interface DeleteMessage {
  readonly request: string
  readonly userId: string
  readonly source: DeletionRecord['sources'][number]
  /** The index, in `source.destinations`, of the first destination of the message. */
  readonly first: number
}

function deleteOf({ request, userId, source, first }: DeleteMessage, at: EpochMs): Event {
  const { id: sourceId } = source
  const destinations = source.destinations.slice(first, first + maxNamedDestinations)
  const unique = first === 0 ? [request, sourceId, userId] : [request, sourceId, userId, first]
  return ownEvent({
    type: 'delete',
    messageId: `delete-${hash('sha256', JSON.stringify(unique)).slice(0, 40)}`,
    userId,
    sourceId,
    origin: { kind: 'deletion', id: request, version: undefined, destinations },
    at,
  })
}
