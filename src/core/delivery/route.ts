import { withChanges } from '../collections/map-with-changes.ts'
import type { JsonText } from '../message/canonical-json-text.ts'
import { type Event, maxNamedDestinations } from '../message/event.ts'
import { isOwnSource } from '../message/own-event-builder-and-source-ids.ts'
import type { Destination, Settings, Source } from '../settings/settings.ts'
import type { EpochMs } from '../time.ts'
import { type FilterRule, filteredBy, isNeverFiltered } from './event-filter.ts'
import { FilterFields } from './filter-field-values.ts'
import type { DropReason } from './outcomes-reasons-and-classification.ts'

export interface Drop {
  readonly reason: DropReason
  /** `undefined` when the event names no destination and its source is connected to none. */
  readonly destination: string | undefined
  /** Set for the reason `filtered`. */
  readonly rule?: FilterRule
}

/** The routes of a configuration. A reload of the configuration replaces the whole object. */
export interface Routing {
  /**
   * A new object for each routing. Callers keep it, and not the large routing, to detect a change.
   */
  readonly version: object
  readonly sources: ReadonlyMap<string, Source>
  readonly destinations: ReadonlyMap<string, Destination>
  /** Every destination of each source, including disabled ones, in configuration order. */
  readonly bySource: ReadonlyMap<string, readonly Destination[]>
  /**
   * Whether a file of `destinationsFrom` is unreadable. Messages for an unknown destination wait,
   * because the file may contain it.
   */
  readonly isIncomplete?: boolean
}

export type Route =
  | {
      readonly kind: 'deliver'
      readonly destinations: readonly Destination[]
      /**
       * One drop for each destination that does not get the event. If no destination is connected
       * to the event's source, a single drop with the reason `no_destination`.
       */
      readonly drops: readonly Drop[]
    }
  | { readonly kind: 'dead_lettered'; readonly reason: 'unknown_source' | 'unknown_destination' }

export type RetryRoute =
  | { readonly kind: 'deliver'; readonly destination: Destination }
  | { readonly kind: 'dropped'; readonly reason: 'disabled'; readonly destination: Destination }
  | { readonly kind: 'dead_lettered'; readonly reason: 'unknown_destination' }

export function createRouting(settings: Pick<Settings, 'sources' | 'destinations' | 'excluded'>): Routing {
  const bySource = new Map<string, Destination[]>(settings.sources.map(source => [source.id, []]))
  // The loop creates no intermediate lists, because this function runs often: after changes of
  // configuration objects.
  const destinations = new Map<string, Destination>()
  for (const destination of settings.destinations) {
    const { id, sources } = destination
    destinations.set(id, destination)
    for (const source of sources.length > 1 ? new Set(sources) : sources) bySource.get(source)?.push(destination)
  }
  return {
    version: {},
    sources: new Map(settings.sources.map(source => [source.id, source])),
    destinations,
    bySource,
    isIncomplete: (settings.excluded?.unnamed ?? 0) > 0,
  }
}

/**
 * Replaces destinations, much faster than `createRouting`. The new versions must have the same
 * sources as the old ones.
 */
export function withChangedDestinations(routing: Routing, changed: ReadonlyMap<string, Destination>): Routing {
  const newVersion = (destination: Destination): Destination => changed.get(destination.id) ?? destination
  const bySource = new Map<string, readonly Destination[]>()
  for (const { sources } of changed.values())
    for (const source of sources) {
      const connected = routing.bySource.get(source)
      if (connected !== undefined && !bySource.has(source)) bySource.set(source, connected.map(newVersion))
    }
  return {
    ...routing,
    version: {},
    destinations: withChanges(routing.destinations, changed),
    bySource: withChanges(routing.bySource, bySource),
  }
}

/**
 * Returns a placeholder for a destination with an unreadable configuration. It is paused, so its
 * messages wait in retry topics.
 */
export const placeholderDestination = (id: string, sources: readonly string[] = []): Destination => ({
  id,
  enabled: true,
  paused: true,
  sources,
  secrets: [],
  webhooks: [],
  isPlaceholder: true,
})

/**
 * Returns the placeholder of an unusable destination. It keeps the filter, because a message is
 * filtered only once, before it waits. It keeps `lifecycle`, because `pauseKeepsWindow` applies to
 * waiting messages.
 */
export const placeholderOf = ({
  id,
  sources,
  enabled,
  filter,
  lifecycle,
  disabledAutomatically,
}: Pick<
  Destination,
  'id' | 'sources' | 'enabled' | 'filter' | 'lifecycle' | 'disabledAutomatically'
>): Destination => ({
  ...placeholderDestination(id, sources),
  enabled,
  ...(filter !== undefined && { filter }),
  ...(lifecycle !== undefined && { lifecycle }),
  ...(disabledAutomatically !== undefined && { disabledAutomatically }),
})

/**
 * Finds a destination by its id. Returns a placeholder if the destination may be in a file that
 * cannot be read.
 */
const destinationOf = (id: string, { destinations, isIncomplete }: Routing): Destination | undefined =>
  destinations.get(id) ?? (isIncomplete === true ? placeholderDestination(id) : undefined)

export function getsAttempts(id: string, { destinations }: Pick<Routing, 'destinations'>): boolean {
  const destination = destinations.get(id)
  return destination?.enabled === true && !destination.paused
}

/** Routes an event that is read from the events topic. */
export function route(event: Event, routing: Routing): Route {
  const { sourceId, destinationId } = event
  const isOwn = isOwnSource(sourceId)
  const connected = routing.bySource.get(sourceId) ?? (isOwn ? none : undefined)
  if (connected === undefined) return { kind: 'dead_lettered', reason: 'unknown_source' }

  if (destinationId === undefined)
    return select(connectedDestinationsFor(event, connected), event, dropsOfDisconnected(event, connected))

  const named = destinationOf(destinationId, routing)
  if (named === undefined) return { kind: 'dead_lettered', reason: 'unknown_destination' }
  // The named destination must be connected to the source, except for Hookline's own sources and
  // destinations in unreadable files.
  const isConnected = isOwn || connected.includes(named) || !routing.destinations.has(destinationId)
  return select(isConnected ? [named] : none, event)
}

/** Routes a record from a retry topic, without checking its source or applying the filter again. */
export function routeRetry(destinationId: string, routing: Routing): RetryRoute {
  const destination = destinationOf(destinationId, routing)
  if (destination === undefined) return { kind: 'dead_lettered', reason: 'unknown_destination' }
  return destination.enabled ? { kind: 'deliver', destination } : { kind: 'dropped', reason: 'disabled', destination }
}

/**
 * Whether a delivery belongs to an earlier destination with the same id, perhaps of another
 * customer. This is so if the delivery started before the current destination was created, and the
 * current destination does not list the delivery's source. No destination lists Hookline's own
 * sources, so the second condition is always true for their deliveries.
 */
export const isOfEarlierDestination = (
  { createdAt, sources }: Pick<Destination, 'createdAt' | 'sources'>,
  sourceId: string,
  startedAt: EpochMs,
): boolean => createdAt !== undefined && startedAt < createdAt && !sources.includes(sourceId)

/** Whether the sources of a destination are not known, because its configuration cannot be read. */
export const hasUnknownSources = ({ isPlaceholder, enabled, sources }: Destination): boolean =>
  isPlaceholder === true && enabled && sources.length === 0

/**
 * Like `hasUnknownSources`, but also for a destination that the routing does not have: it may be in
 * an unreadable file.
 */
export function mayHaveUnknownSources(id: string, { destinations, isIncomplete }: Routing): boolean {
  const destination = destinations.get(id)
  return destination === undefined ? isIncomplete === true : hasUnknownSources(destination)
}

/**
 * Whether the destination is connected to the source. Always true for Hookline's own sources, which
 * destinations do not list in `sources`.
 */
export const isConnected = (sourceId: string, destinationId: string, routing: Routing): boolean =>
  isOwnSource(sourceId) || (routing.bySource.get(sourceId)?.some(({ id }) => id === destinationId) ?? false)

const none: readonly never[] = []

/**
 * The ids of the destinations whose results Hookline waits for, for example to complete a deletion.
 */
export const reportedDestinations = ({ destinationId, origin }: Event): readonly string[] =>
  destinationId === undefined ? (origin?.destinations ?? none) : [destinationId]

/**
 * Returns the connected destinations that get the event. For a source with more than
 * `maxNamedDestinations` destinations, a deletion writes several delete messages, and each goes
 * only to the destinations that it names. Otherwise, a delete message goes to all connected
 * destinations, even if they were connected after the deletion request.
 */
function connectedDestinationsFor({ origin }: Event, connected: readonly Destination[]): readonly Destination[] {
  if (origin?.destinations === undefined || connected.length <= maxNamedDestinations) return connected
  const named = new Set(origin.destinations)
  return connected.filter(({ id }) => named.has(id))
}

/**
 * Returns a drop for each of the event's `reportedDestinations` that is no longer connected to the
 * event's source.
 */
function dropsOfDisconnected(event: Event, connected: readonly Destination[]): readonly Drop[] {
  const awaited = reportedDestinations(event)
  if (awaited.length === 0) return none
  const ids = new Set(connected.map(({ id }) => id))
  return awaited.filter(id => !ids.has(id)).map(destination => ({ reason: 'no_destination', destination }))
}

function select(connected: readonly Destination[], event: Event, gone: readonly Drop[] = none): Route {
  if (connected.length === 0) {
    const drop: Drop = { reason: 'no_destination', destination: event.destinationId }
    return { kind: 'deliver', destinations: none, drops: gone.length > 0 ? gone : [drop] }
  }
  const selected = isSelected(event.message.integrations)
  if (selected && connected.every(getsAll)) return { kind: 'deliver', destinations: connected, drops: gone }
  const fields = isNeverFiltered(event) ? undefined : new FilterFields(event.message)
  const destinations: Destination[] = []
  const dropped: Drop[] = []
  for (const destination of connected) {
    const drop = dropOf(destination, selected, fields)
    if (drop === undefined) destinations.push(destination)
    else dropped.push(drop)
  }
  return { kind: 'deliver', destinations, drops: gone.length > 0 ? [...dropped, ...gone] : dropped }
}

const getsAll = ({ enabled, filter }: Destination): boolean => enabled && filter === undefined

/**
 * Returns why a destination does not get an event. `selected`: the event's `integrations` allow the
 * delivery.
 * Without `fields`, no filter applies.
 */
function dropOf(destination: Destination, selected: boolean, fields: FilterFields | undefined): Drop | undefined {
  const { id, enabled } = destination
  if (!enabled) return { reason: 'disabled', destination: id }
  if (!selected) return { reason: 'not_selected', destination: id }
  const rule = fields && filteredBy(destination, fields)
  return rule === undefined ? undefined : { reason: 'filtered', destination: id, rule }
}

/** Whether a message's `integrations` allow delivery to webhooks. */
function isSelected(integrations: JsonText | undefined): boolean {
  // Only a boolean `false` can exclude a destination, so JSON text without `false` is not parsed.
  if (integrations === undefined || !integrations.includes('false')) return true
  const map: unknown = JSON.parse(integrations)
  if (typeof map !== 'object' || map === null) return true
  const own: unknown = Object.hasOwn(map, 'Webhooks') ? (map as Record<string, unknown>)['Webhooks'] : undefined
  if (typeof own === 'boolean') return own
  // An object with settings allows the delivery. An empty list does so too, because PHP writes an
  // empty object as `[]`.
  if (Array.isArray(own) ? own.length === 0 : typeof own === 'object' && own !== null) return true
  const all = ['All', 'all', 'ALL'].find(name => Object.hasOwn(map, name))
  return all === undefined || (map as Record<string, unknown>)[all] !== false
}
