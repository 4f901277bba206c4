import type { Membership } from '../../../core/audience/membership.ts'
import { type SyncStatus, syncStatuses } from '../../../core/audience/membership-status-at-destination.ts'
import { syncBegan } from '../../../core/audience/sync-id.ts'
import { countWithNoun } from '../../../core/count-with-noun.ts'
import { isoOf } from '../../../core/message/timestamp.ts'
import {
  type AudienceView,
  audienceDestinations,
  connectionOf,
  syncDocument,
} from '../../../core/operator/audience-view.ts'
import { tableOf } from '../../terminal-table-and-progress-bar.ts'

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
  const rows = audienceDestinations(view).map(({ destination, members, syncStatuses: counts }) => {
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

/** One line for each destination, for example `crm: 1 user with status "unknown"`. */
export const driftLines = (counts: ReadonlyMap<string, Readonly<Record<SyncStatus, number>>>): readonly string[] =>
  [...counts].map(([destination, count]) => {
    const parts = syncStatuses.flatMap(standing =>
      standing === 'acknowledged' || count[standing] === 0
        ? []
        : [`${countWithNoun(count[standing], 'user')} with status "${standing.replace('_', ' ')}"`],
    )
    return `${destination}: ${parts.join(', ')}`
  })
