import { filterIn } from '../settings/check-filter.ts'
import { valueAt } from '../settings/problem.ts'
import type { Destination } from '../settings/settings.ts'
import { placeholderDestination } from './route.ts'

/**
 * Returns the placeholder of a destination whose entry has a problem. `entry` is the entry as far as
 * it can be read, and `sources` are those that the destination may use.
 * - The placeholder of a disabled destination is disabled too, so that no messages wait for it.
 * - The placeholder has the filter of the destination. A message that waits is not filtered again,
 *   so without the filter, the destination would later get messages that its filter excludes.
 */
export function placeholderOfEntry(id: string, sources: readonly string[], entry: unknown): Destination {
  const filter = filterIn(entry)
  return {
    ...placeholderDestination(id, sources),
    ...(valueAt(entry, ['enabled']) === false && { enabled: false }),
    ...(filter !== undefined && { filter }),
  }
}
