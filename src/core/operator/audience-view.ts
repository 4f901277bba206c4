import type { Audience } from '../audience/configured-audiences.ts'
import { type SyncStatus, syncStatuses } from '../audience/membership-status-at-destination.ts'
import { type SyncId, syncBegan } from '../audience/sync-id.ts'
import { isoOf } from '../message/timestamp.ts'

export interface DestinationFigures {
  readonly destination: string
  /** Number of users who should be in the audience or, for a trait, have a value. */
  readonly members: number
  readonly syncStatuses: Readonly<Record<SyncStatus, number>>
}

/** The figures of one audience, from the memberships topic. */
export interface AudienceFigures {
  readonly audience: string
  readonly newest: SyncId | undefined
  readonly destinations: readonly DestinationFigures[]
}

/** An audience of the configuration, of the memberships topic, or of both. */
export interface AudienceView {
  readonly name: string
  readonly configured: Audience | undefined
  readonly figures: AudienceFigures | undefined
}

/** The response to `GET /v1/audiences`. Times are ISO 8601, UTC. */
export interface AudienceList {
  /** When the figures were read; absent while the memberships are unread. */
  readonly readAt?: string | undefined
  /** Present while the memberships are unread: the audiences then have no figures. */
  readonly partial?: true | undefined
  readonly audiences: readonly object[]
}

export type ListAudiences = () => Promise<AudienceList>

export const audienceViews = (
  directory: ReadonlyMap<string, Audience>,
  figures: ReadonlyMap<string, AudienceFigures>,
): readonly AudienceView[] =>
  [...new Set([...directory.keys(), ...figures.keys()])].map(name => ({
    name,
    configured: directory.get(name),
    figures: figures.get(name),
  }))

const none: DestinationFigures = {
  destination: '',
  members: 0,
  syncStatuses: { acknowledged: 0, in_flight: 0, unknown: 0, different: 0 },
}

/**
 * The figures of the enabled destinations, then those of other destinations that have memberships
 * of the audience.
 */
export function audienceDestinations({ configured, figures }: AudienceView): readonly DestinationFigures[] {
  const known = figures?.destinations ?? []
  const enabled = [...(configured?.destinations ?? [])].map(
    id => known.find(({ destination }) => destination === id) ?? { ...none, destination: id },
  )
  return [...enabled, ...known.filter(({ destination }) => configured?.destinations.has(destination) !== true)]
}

/**
 * How an audience is connected with a destination. `disabled`: the audience lists the destination,
 * but the destination is disabled. `not connected`: the audience does not list the destination.
 */
export function connectionOf(id: string, configured: Audience | undefined): 'enabled' | 'disabled' | 'not connected' {
  if (configured?.destinations.has(id) === true) return 'enabled'
  return configured?.disabled.has(id) === true ? 'disabled' : 'not connected'
}

/**
 * The JSON document of an audience; unknown values are null. If `hasFigures` is false, the document
 * has only fields from the configuration.
 */
export function audienceDocument(view: AudienceView, { hasFigures = true } = {}): object {
  const { name, configured, figures } = view
  return {
    name,
    kind: configured?.kind ?? null,
    property: configured?.property ?? null,
    configured: configured !== undefined,
    ...(hasFigures && { lastSync: figures?.newest === undefined ? null : syncDocument(figures.newest) }),
    destinations: audienceDestinations(view).map(({ destination, members, syncStatuses: counts }) => ({
      id: destination,
      connected: connectionOf(destination, configured) !== 'not connected',
      disabled: connectionOf(destination, configured) === 'disabled',
      ...(hasFigures && {
        members,
        ...Object.fromEntries(syncStatuses.map(status => [camelOf(status), counts[status]])),
      }),
    })),
  }
}

export const syncDocument = (id: SyncId): object => ({ syncId: id, beganAt: isoOf(syncBegan(id)) })
const camelOf = (status: SyncStatus): string => (status === 'in_flight' ? 'inFlight' : status)
