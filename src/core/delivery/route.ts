import type { Event } from '../message/event.ts'
import { isOwnSource } from '../message/own-event.ts'
import type { Destination, Settings, Source } from '../settings/settings.ts'
import type { JsonText } from '../units.ts'
import type { DropReason } from './outcome.ts'

/** An event is not delivered, rightly. */
export interface Drop {
  readonly reason: DropReason
  /** Undefined: there is none that it is connected to. */
  readonly destination: string | undefined
}

/** Who gets what, at one moment: swapped whole when the configuration is reloaded. */
export interface Routing {
  readonly sources: ReadonlyMap<string, Source>
  readonly destinations: ReadonlyMap<string, Destination>
  /** Of each source every destination that it is connected to, disabled ones too, in configuration order. */
  readonly bySource: ReadonlyMap<string, readonly Destination[]>
  /** An unreadable file may hold a destination of any other id: messages for unknown ids wait. */
  readonly isIncomplete?: boolean
}

export type Route =
  | {
      readonly kind: 'deliver'
      readonly destinations: readonly Destination[]
      /** One for each destination that does not get the event, or a single `no_destination`. */
      readonly drops: readonly Drop[]
    }
  | { readonly kind: 'dead_lettered'; readonly reason: 'unknown_source' | 'unknown_destination' }

export type ParkedRoute =
  | { readonly kind: 'deliver'; readonly destination: Destination }
  | { readonly kind: 'dropped'; readonly reason: 'disabled' }
  | { readonly kind: 'dead_lettered'; readonly reason: 'unknown_destination' }

export function createRouting(settings: Pick<Settings, 'sources' | 'destinations' | 'excluded'>): Routing {
  const bySource = new Map<string, Destination[]>(settings.sources.map(source => [source.id, []]))
  for (const destination of settings.destinations) {
    for (const id of new Set(destination.sources)) bySource.get(id)?.push(destination)
  }
  return {
    sources: new Map(settings.sources.map(source => [source.id, source])),
    destinations: new Map(settings.destinations.map(destination => [destination.id, destination])),
    bySource,
    isIncomplete: (settings.excluded?.unnamed ?? 0) > 0,
  }
}

/** A destination of which only the id, and perhaps the sources, are known: messages for it wait in retry topics. */
export const heldDestination = (id: string, sources: readonly string[] = []): Destination => ({
  id,
  enabled: true,
  paused: true,
  sources,
  secrets: [],
  webhooks: [],
  isHeld: true,
})

/** The destination of an id; held, not unknown, while it may be in a file that cannot be read. */
const destinationOf = (id: string, { destinations, isIncomplete }: Routing): Destination | undefined =>
  destinations.get(id) ?? (isIncomplete === true ? heldDestination(id) : undefined)

/** Where an event goes that is seen for the first time. */
export function route(event: Event, routing: Routing): Route {
  const { sourceId, destinationId } = event
  const isOwn = isOwnSource(sourceId)
  const connected = routing.bySource.get(sourceId) ?? (isOwn ? none : undefined)
  if (connected === undefined) return { kind: 'dead_lettered', reason: 'unknown_source' }

  if (destinationId === undefined) return select(connected, event, goneFor(event, connected))

  const named = destinationOf(destinationId, routing)
  if (named === undefined) return { kind: 'dead_lettered', reason: 'unknown_destination' }
  // A name narrows what a source is connected to, it connects nothing. Ours are connected by `audiences.list` and `canary`.
  const isConnected = isOwn || connected.includes(named) || !routing.destinations.has(destinationId)
  return select(isConnected ? [named] : none, event)
}

/** Where a waiting record goes: to its destination, even if its source was removed or disconnected meanwhile. */
export function routeParked(destinationId: string, routing: Routing): ParkedRoute {
  const destination = destinationOf(destinationId, routing)
  if (destination === undefined) return { kind: 'dead_lettered', reason: 'unknown_destination' }
  return destination.enabled ? { kind: 'deliver', destination } : { kind: 'dropped', reason: 'disabled' }
}

/** Whether events of a source go to a destination. The service's own sources are connected by `audiences.list` and `canary`. */
export const isConnected = (sourceId: string, destinationId: string, routing: Routing): boolean =>
  isOwnSource(sourceId) || (routing.bySource.get(sourceId)?.some(({ id }) => id === destinationId) ?? false)

const none: readonly never[] = []

/** Destinations of which somebody waits to hear what became of the event. */
export const awaitedOf = ({ destinationId, origin }: Event): readonly string[] =>
  destinationId === undefined ? (origin?.destinations ?? none) : [destinationId]

/** Those among them that were disconnected since. */
function goneFor(event: Event, connected: readonly Destination[]): readonly Drop[] {
  const awaited = awaitedOf(event)
  if (awaited.length === 0) return none
  const gone = awaited.filter(id => !connected.some(destination => destination.id === id))
  return gone.map(destination => ({ reason: 'no_destination', destination }))
}

function select(
  connected: readonly Destination[],
  { message, destinationId }: Event,
  gone: readonly Drop[] = none,
): Route {
  if (connected.length === 0) {
    const drop: Drop = { reason: 'no_destination', destination: destinationId }
    return { kind: 'deliver', destinations: none, drops: gone.length > 0 ? gone : [drop] }
  }
  const selected = isSelected(message.integrations)
  if (selected && connected.every(isEnabled)) return { kind: 'deliver', destinations: connected, drops: gone }
  const dropped = connected
    .filter(({ enabled }) => !(enabled && selected))
    .map(({ id, enabled }): Drop => ({ reason: enabled ? 'not_selected' : 'disabled', destination: id }))
  return {
    kind: 'deliver',
    destinations: selected ? connected.filter(isEnabled) : none,
    drops: gone.length > 0 ? [...dropped, ...gone] : dropped,
  }
}

const isEnabled = (destination: Destination): boolean => destination.enabled

/** Whether a message's `integrations` let it go to webhooks (A1.4, A4.2 "Selecting destinations"). */
function isSelected(integrations: JsonText | undefined): boolean {
  // Only a boolean `false` switches anything off: the usual map needs no parsing.
  if (integrations === undefined || !integrations.includes('false')) return true
  const map: unknown = JSON.parse(integrations)
  if (typeof map !== 'object' || map === null) return true
  const own: unknown = Object.hasOwn(map, 'Webhooks') ? (map as Record<string, unknown>)['Webhooks'] : undefined
  if (typeof own === 'boolean') return own
  // An object holds settings for the destination, which switches it on; PHP writes an empty one as `[]`.
  if (Array.isArray(own) ? own.length === 0 : typeof own === 'object' && own !== null) return true
  const all = ['All', 'all', 'ALL'].find(name => Object.hasOwn(map, name))
  return all === undefined || (map as Record<string, unknown>)[all] !== false
}
