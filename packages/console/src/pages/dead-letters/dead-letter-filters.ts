import { withoutEmpty } from '../../api/query-parameters.ts'
import type { DeadLetterFilters } from '../../api/response-types.ts'
import { isoOfInput, localInput } from '../../components/time-text-and-input-values.ts'

/** The names of the dead-letter filters, as in the query of the page's URL. */
export const filterNames = ['destination', 'reason', 'outcome', 'since', 'until', 'message'] as const

/**
 * Whether a dead letter has a destination. The value `-` means that the event was dead-lettered
 * before its destinations were selected.
 */
export const hasDestination = (destination: string | undefined): destination is string =>
  destination !== undefined && destination !== '-'

export function filtersOf(query: string): DeadLetterFilters {
  const given = new URLSearchParams(query)
  return withoutEmpty(Object.fromEntries(filterNames.map(name => [name, given.get(name) ?? ''])))
}

/**
 * Converts a time of the filters to the value of its `datetime-local` field. The value is empty for
 * a text that the field cannot show, for example `24h`.
 */
export function inputOf(time = ''): string {
  const at = Date.parse(time)
  return Number.isNaN(at) ? '' : localInput(at)
}

/**
 * Converts the value of a field, `input`, to a time for the filters. If the user has not edited the
 * field, returns the previous time, `before`, which the field may not show exactly.
 */
export const timeOf = (input: string, before: string | undefined): string | undefined =>
  input === inputOf(before) ? before : isoOfInput(input)

/** The filters in words, for the confirmation of a replay. */
export function filterText(filters: DeadLetterFilters): string {
  const parts = filterNames.flatMap(name => (filters[name] === undefined ? [] : [`${name} ${filters[name]}`]))
  return parts.length === 0 ? 'all dead letters' : parts.join(', ')
}
