import type { Replay } from '../../api/job-types.ts'
import { withoutEmpty } from '../../api/query.ts'
import type { DeadLetterFilters } from '../../api/types.ts'
import { countWithNoun } from '../../components/number-text.ts'
import { countedBy, isActive } from '../jobs/job-view.ts'

/** The filters of a list of dead letters. They are in the address of the page. */
export const filterNames = ['destination', 'reason', 'outcome', 'since', 'until', 'message'] as const

/** Whether a dead letter has a destination. `-` stands for an event that never became a delivery. */
export const hasDestination = (destination: string | undefined): destination is string =>
  destination !== undefined && destination !== '-'

/** Reads the filters from the query of the address, without those that are empty. */
export function filtersOf(query: string): DeadLetterFilters {
  const given = new URLSearchParams(query)
  return withoutEmpty(Object.fromEntries(filterNames.map(name => [name, given.get(name) ?? ''])))
}

/** The filters in words, for the confirmation of a replay. */
export function filterText(filters: DeadLetterFilters): string {
  const parts = filterNames.flatMap(name => (filters[name] === undefined ? [] : [`${name} ${filters[name]}`]))
  return parts.length === 0 ? 'all dead letters' : parts.join(', ')
}

/** What a dry run has counted, in words. */
export function dryRunText({ state, progress, counts }: Pick<Replay, 'state' | 'progress' | 'counts'>): string {
  if (isActive({ state })) return `Counting… ${countWithNoun(progress?.seen ?? 0, 'dead letter')} read so far.`
  if (state !== 'done') return 'The dead letters could not be counted.'
  const { replayable, refused } = countedBy({ ...(counts && { counts }) })
  const rest = refused > 0 ? ` ${countWithNoun(refused, 'dead letter')} cannot be replayed.` : ''
  return `${countWithNoun(replayable, 'dead letter')} can be replayed.${rest}`
}
