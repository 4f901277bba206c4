import { withoutEmpty } from '../../api/query.ts'
import type { DeadLetterFilters } from '../../api/types.ts'

/** The filters of a list of dead letters. They are in the address of the page. */
export const filterNames = ['destination', 'reason', 'outcome', 'since', 'until', 'message'] as const

/**
 * Whether a dead letter has a destination. The dead letter of an event that could not be decoded
 * has `-` instead.
 */
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

/**
 * The title of a list that shows no dead letters. With `hasMore`, the next page continues the
 * search and may still find dead letters.
 */
export function emptyTitle(isFiltered: boolean, hasMore: boolean): string {
  if (hasMore) return 'No dead letter found so far.'
  return isFiltered ? 'No dead letter matches the filters.' : 'There are no dead letters.'
}

/**
 * The notice above a partial list. With `hasMore`, the list may lack dead letters, for which the
 * next page continues the search. Without it, the list may contain replayed dead letters.
 */
export const partialText = (hasMore: boolean): string =>
  hasMore
    ? 'The search ended at its limit of records or time. Choose "Next page" to search older dead letters.'
    : 'There are too many dead letters to check which of them were replayed. The list may contain replayed ones.'
