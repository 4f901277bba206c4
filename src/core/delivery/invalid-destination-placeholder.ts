import { filterIn } from '../settings/check-filter.ts'
import { lifecycle } from '../settings/destination-lifecycle.ts'
import type { Destination } from '../settings/settings.ts'
import { valueAt } from '../settings/settings-problem.ts'
import { placeholderOf } from './route.ts'

/**
 * Returns the placeholder (see `placeholderOf`) of a destination whose `entry` in the configuration
 * has a problem.
 */
export function placeholderOfEntry(id: string, sources: readonly string[], entry: unknown): Destination {
  const { data } = lifecycle.safeParse(valueAt(entry, ['lifecycle']))
  const kept = { filter: filterIn(entry), ...(data !== undefined && { lifecycle: data }) }
  return placeholderOf({ id, sources, enabled: valueAt(entry, ['enabled']) !== false, ...kept })
}
