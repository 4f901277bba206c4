import type { FailureState } from '../auto-disable/judge-failures.ts'
import type { Destination, Settings } from '../settings/settings.ts'
import { isInFile, type Merged, withDisabling } from './merge-objects.ts'
import type { ReadObject } from './read-object.ts'

/**
 * Returns the result of `mergeObjects` after some destinations have changed. It is computed from
 * `before`, the result before the change, and from the new versions of the changed destinations.
 * With 10,000 objects, this takes a tenth of the time of `mergeObjects`, or less.
 *
 * Returns `undefined` when the change may affect other objects too, so that all objects must be
 * merged. It affects only the changed destinations if each of them was in use before, is in use
 * now, and has the same sources as before.
 */
export function mergeChangedDestinations(
  file: Settings,
  before: Merged,
  changed: readonly (ReadObject | undefined)[],
  failures: ReadonlyMap<string, FailureState>,
): Merged | undefined {
  // `before` does not say which objects have an old seal.
  if (before.oldSeals > 0) return undefined
  const destinations = new Map<string, Destination>()
  for (const object of changed) {
    const destination = object && destinationInUse(object, file)
    if (destination === undefined) return undefined
    destinations.set(destination.id, withDisabling(destination, failures))
  }
  let found = 0
  const all = before.settings.destinations.map(old => {
    const destination = destinations.get(old.id)
    if (destination === undefined) return old
    if (old.isHeld !== true && hasSameSources(destination, old)) found++
    return destination
  })
  if (found < destinations.size) return undefined
  return { ...before, settings: { ...before.settings, destinations: all }, changedDestinations: destinations }
}

/**
 * Returns the destination of an object. `undefined` if the object is not used, is not a
 * destination, or has a secret that was encrypted with an earlier key: the count `oldSeals` may
 * then change.
 */
function destinationInUse(object: ReadObject, file: Settings): Destination | undefined {
  const { parsed, problems, hasOldSeal } = object
  if (parsed.kind !== 'destination' || problems.length > 0 || hasOldSeal) return undefined
  return isInFile(file, object) ? undefined : parsed.destination
}

const hasSameSources = ({ sources }: Destination, before: Destination): boolean =>
  sources.length === before.sources.length && sources.every((source, index) => source === before.sources[index])
