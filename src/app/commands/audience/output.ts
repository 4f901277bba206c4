import type { Audience } from '../../../core/audience/audience-directory.ts'
import type { Membership } from '../../../core/audience/membership.ts'
import { type SyncId, syncBegan } from '../../../core/audience/sync-id.ts'
import { type SyncStatus, syncStatuses } from '../../../core/audience/sync-status.ts'
import { isoOf } from '../../../core/message/timestamp.ts'
import type { AudienceFigures, DestinationFigures } from '../../../services/operator/audience-figures.ts'
import { tableOf } from '../../terminal.ts'

/** An audience from the configuration, from the memberships topic, or from both. */
export interface AudienceView {
  readonly name: string
  readonly configured: Audience | undefined
  readonly figures: AudienceFigures | undefined
}

const none: DestinationFigures = {
  destination: '',
  members: 0,
  syncStatuses: { acknowledged: 0, in_flight: 0, unknown: 0, different: 0 },
}

/**
 * The figures of the enabled destinations, followed by those of other destinations that have
 * memberships of the audience.
 */
function destinationsOf({ configured, figures }: AudienceView): readonly DestinationFigures[] {
  const known = figures?.destinations ?? []
  const enabled = [...(configured?.destinations ?? [])].map(
    id => known.find(({ destination }) => destination === id) ?? { ...none, destination: id },
  )
  return [...enabled, ...known.filter(({ destination }) => configured?.destinations.has(destination) !== true)]
}

/** How a destination is connected to the audience: `enabled` means that it gets changes. */
function connectionOf(id: string, configured: Audience | undefined): 'enabled' | 'disabled' | 'not connected' {
  if (configured?.destinations.has(id) === true) return 'enabled'
  return configured?.disabled.has(id) === true ? 'disabled' : 'not connected'
}

/** The JSON document of an audience. Times are in ISO 8601; unknown values are null. */
export function audienceDocument(view: AudienceView): object {
  const { name, configured, figures } = view
  return {
    name,
    kind: configured?.kind ?? null,
    property: configured?.property ?? null,
    configured: configured !== undefined,
    lastSync: figures?.newest === undefined ? null : syncDocument(figures.newest),
    destinations: destinationsOf(view).map(({ destination, members, syncStatuses: counts }) => ({
      id: destination,
      connected: connectionOf(destination, configured) !== 'not connected',
      disabled: connectionOf(destination, configured) === 'disabled',
      members,
      ...Object.fromEntries(syncStatuses.map(standing => [camelOf(standing), counts[standing]])),
    })),
  }
}

const syncDocument = (id: SyncId): object => ({ syncId: id, beganAt: isoOf(syncBegan(id)) })
const camelOf = (standing: SyncStatus): string => (standing === 'in_flight' ? 'inFlight' : standing)

const listTitles = ['NAME', 'KIND', 'PROPERTY', 'LAST SYNC', 'DESTINATION', 'MEMBERS', ...syncStatuses.map(titleOf)]

function titleOf(standing: SyncStatus): string {
  return standing.replace('_', ' ').toUpperCase()
}

/** A table with a row for each audience and destination. */
export function audienceLines(views: readonly AudienceView[]): readonly string[] {
  if (views.length === 0) return ['no audiences: audiences.list in the configuration is empty']
  return tableOf(listTitles, views.flatMap(rowsOf))
}

function rowsOf(view: AudienceView): readonly (readonly string[])[] {
  const { name, configured, figures } = view
  const about = [
    configured === undefined ? `${name} (not in the configuration)` : name,
    configured?.kind ?? '-',
    configured?.property ?? '-',
    figures?.newest === undefined ? 'never' : isoOf(syncBegan(figures.newest)),
  ]
  const rows = destinationsOf(view).map(({ destination, members, syncStatuses: counts }) => {
    const connection = connectionOf(destination, configured)
    return [
      ...about,
      connection === 'enabled' ? destination : `${destination} (${connection})`,
      ...[members, ...syncStatuses.map(standing => counts[standing])].map(String),
    ]
  })
  return rows.length === 0 ? [[...about, 'none', ...Array<string>(1 + syncStatuses.length).fill('-')]] : rows
}

/** The JSON document of one membership. */
export function membershipDocument(
  about: { readonly userId: string; readonly destination: string; readonly standing: SyncStatus },
  { desired, acknowledged, inFlight, version, syncId }: Membership,
): object {
  return {
    userId: about.userId,
    destination: about.destination,
    standing: about.standing,
    desired: JSON.parse(desired),
    acknowledged: acknowledged === undefined ? null : { value: JSON.parse(acknowledged) },
    inFlight: inFlight === undefined ? null : { value: JSON.parse(inFlight.value), since: isoOf(inFlight.since) },
    version,
    lastSync: syncId === 0 ? null : syncDocument(syncId),
  }
}

const memberTitles = ['DESTINATION', 'STATUS', 'DESIRED', 'ACKNOWLEDGED', 'IN FLIGHT', 'IN FLIGHT SINCE', 'LAST SYNC']

/** A table of one user's memberships, with a row for each destination. */
export const memberLines = (
  rows: readonly { readonly destination: string; readonly standing: SyncStatus; readonly state: Membership }[],
): readonly string[] =>
  tableOf(
    memberTitles,
    rows.map(({ destination, standing, state: { desired, acknowledged, inFlight, syncId } }) => [
      destination,
      standing.replace('_', ' '),
      desired,
      acknowledged ?? 'unknown',
      inFlight?.value ?? '-',
      inFlight === undefined ? '-' : isoOf(inFlight.since),
      syncId === 0 ? '-' : isoOf(syncBegan(syncId)),
    ]),
  )

/** One line for each destination: `crm: 3 in flight, 1 unknown` */
export const driftLines = (counts: ReadonlyMap<string, Readonly<Record<SyncStatus, number>>>): readonly string[] =>
  [...counts].map(([destination, count]) => {
    const parts = syncStatuses.flatMap(standing =>
      standing === 'acknowledged' || count[standing] === 0 ? [] : [`${count[standing]} ${standing.replace('_', ' ')}`],
    )
    return `${destination}: ${parts.join(', ')}`
  })
