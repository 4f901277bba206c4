import { comparableValues } from '../settings/check-filter-values.ts'
import { lifecycle } from '../settings/schema-of-destination-lifecycle.ts'
import { filter } from '../settings/schema-of-event-filter.ts'
import type { Destination, DestinationFilter } from '../settings/settings.ts'
import { valueAt } from '../settings/settings-problem.ts'
import { placeholderOf } from './route.ts'

/**
 * Returns a placeholder for a destination whose `entry` in the configuration has a problem. The
 * placeholder is a paused destination (see `placeholderOf`).
 */
export function placeholderOfEntry(id: string, sources: readonly string[], entry: unknown): Destination {
  const { data } = lifecycle.safeParse(valueAt(entry, ['lifecycle']))
  const kept = { filter: filterIn(entry), ...(data !== undefined && { lifecycle: data }) }
  return placeholderOf({ id, sources, enabled: valueAt(entry, ['enabled']) !== false, ...kept })
}

/**
 * The filter of a destination whose other settings may be invalid; `undefined` if the filter itself
 * is invalid.
 */
function filterIn(destination: unknown): DestinationFilter | undefined {
  const { data } = filter.safeParse(valueAt(destination, ['filter']))
  if (data === undefined) return undefined
  return comparableValues({ destinations: [{ filter: data }] }, new Map()).length === 0 ? data : undefined
}
