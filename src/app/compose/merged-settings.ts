import { mergeChangedDestinations } from '../../core/config-objects/merge-changed-destinations.ts'
import { type Merged, mergeObjects } from '../../core/config-objects/merge-objects.ts'
import type { ObjectRecord } from '../../core/config-objects/object-record.ts'
import type { ReadingContext } from '../../core/config-objects/read-object.ts'
import { encryptionKeysOf } from '../../core/encryption-key.ts'
import type { Cancel, Clock } from '../../core/ports.ts'
import type { EntryContext } from '../../core/settings/entries-as-written.ts'
import type { Settings } from '../../core/settings/settings.ts'
import { type DurationMs, durationMs } from '../../core/time.ts'
import type { ObjectStore } from '../../services/config-objects/object-store.ts'

/**
 * Minimum time in ms between two merges of the file with the config topic: the duration of the last
 * merge times `perMerge`, within `min` and `max`. No delivery starts during a merge, so merges must
 * not be frequent.
 */
const interval = { min: 100, max: 400, perMerge: 100 }

/** The part of the object store that a merge uses. */
export type FollowedObjects = Pick<
  ObjectStore,
  'objects' | 'object' | 'failures' | 'listen' | 'readAgain' | 'reading' | 'age'
>

/** The settings in use: those of the file together with the objects of the config topic. */
export interface MergedSettings {
  /** Returns the result of the last merge. */
  get(): Merged
  /**
   * Returns settings with all changes that this process has read. `get` may lack those of the last
   * half second.
   */
  latest(): Merged
  /** Returns the settings of the file alone. */
  file(): Settings
  /** Returns the encryption keys and settings with which the objects are read. */
  readingContext(): ReadingContext
  /**
   * Returns how far the objects can lag behind the config topic, in ms. Returns 0 before `follow`
   * was called.
   */
  objectsAge(): DurationMs
  /** Replaces the settings of the file, and merges immediately. */
  applyFile(settings: Settings): void
  /** Merges the objects immediately, and again soon after changes. */
  follow(objects: FollowedObjects): void
  /** Cancels a merge that has not begun yet. */
  stop(): void
}

interface Deps {
  readonly file: Settings
  /** Called with the result of each merge. */
  readonly apply: (merged: Merged) => void
  readonly clock: Pick<Clock, 'after' | 'monotonic'>
}

/** The encryption keys and settings with which objects are read. */
export const readingContextOf = ({ operator, entriesAsWritten }: Settings): ReadingContext => ({
  keys: encryptionKeysOf(operator.encryptionKeys ?? []),
  context: entriesAsWritten?.context ?? {},
})

/**
 * The reading context after a change of the file. If the encryption keys were removed, the previous
 * keys stay: without keys, all objects would be excluded.
 */
function readingAfter(settings: Settings, before: ReadingContext): ReadingContext {
  const reading = readingContextOf(settings)
  if (settings.operator.encryptionKeys !== undefined) return reading
  const context = settings.entriesAsWritten?.context ?? { ...before.context, ...liveContextOf(settings) }
  return { keys: before.keys, context }
}

/**
 * Returns the part of the reading context that every reload must update. With the old `network`, an
 * object could use a URL that the new file forbids.
 */
const liveContextOf = ({ network: { allow, ports, httpsOnly }, payload }: Settings): EntryContext => ({
  network: { allow, ports, httpsOnly },
  payload,
})

const isSameReading = (a: ReadingContext, b: ReadingContext): boolean =>
  JSON.stringify([a.keys.map(({ id }) => id), a.context]) === JSON.stringify([b.keys.map(({ id }) => id), b.context])

export function createMergedSettings({ file: initial, apply, clock }: Deps): MergedSettings {
  let file = initial
  let reading = readingContextOf(initial)
  let objects: FollowedObjects | undefined
  let merged = mergeObjects(file, [])
  /** The earliest time of the next merge, in monotonic milliseconds. */
  let earliestMergeAt = Number.NEGATIVE_INFINITY
  let cancel: Cancel | undefined
  /**
   * The ids of the destinations that have changed since the last merge; `undefined` when anything
   * else may have changed.
   */
  let changedIds: Set<string> | undefined
  /** The index of each destination in `merged`, by id. */
  let positions: ReadonlyMap<string, number> | undefined
  /** The settings with all changes so far; each new change sets this variable to `undefined`. */
  let upToDate: Merged | undefined

  function withAllChanges(): Merged {
    upToDate ??= fromLastMerge() ?? mergeObjects(file, objects?.objects() ?? [], objects?.failures)
    return upToDate
  }

  function fromLastMerge(): Merged | undefined {
    if (objects === undefined || changedIds === undefined) return undefined
    const { object, failures } = objects
    return mergeChangedDestinations(file, {
      before: merged,
      positions() {
        positions ??= new Map(merged.settings.destinations.map(({ id }, position) => [id, position]))
        return positions
      },
      changed: [...changedIds].map(id => object({ kind: 'destination', id })),
      failures,
    })
  }

  function merge(): void {
    cancel?.()
    cancel = undefined
    const startedAt = clock.monotonic()
    merged = withAllChanges()
    if (merged.changedDestinations === undefined) positions = undefined
    upToDate = undefined
    changedIds = new Set()
    apply(merged)
    const tookMs = clock.monotonic() - startedAt
    earliestMergeAt = startedAt + Math.min(interval.max, Math.max(interval.min, interval.perMerge * tookMs))
  }

  /**
   * Notes a change. Without `record`, anything may have changed. A `failures` record has the
   * failure state of a destination, so it counts as a change of this destination.
   */
  function noteChange(record?: ObjectRecord): void {
    upToDate = undefined
    const isOfExisting = record?.kind === 'failures' || (record?.kind === 'destination' && record.action === 'updated')
    if (!isOfExisting) changedIds = undefined
    else changedIds?.add(record.id)
  }

  function mergeSoon(record: ObjectRecord | undefined): void {
    noteChange(record)
    cancel ??= clock.after(durationMs(Math.max(0, earliestMergeAt - clock.monotonic())), merge)
  }

  return {
    get: () => merged,
    latest: () => (cancel === undefined ? merged : withAllChanges()),
    file: () => file,
    readingContext: () => reading,
    objectsAge: () => objects?.age() ?? durationMs(0),
    applyFile(settings) {
      file = settings
      noteChange()
      reading = readingAfter(settings, reading)
      if (objects !== undefined && !isSameReading(reading, objects.reading)) objects.readAgain(reading)
      merge()
    },
    follow(followed) {
      objects = followed
      // The keys and settings of the file may have changed while the store was starting.
      if (!isSameReading(reading, followed.reading)) followed.readAgain(reading)
      noteChange()
      followed.listen({ onChange: mergeSoon })
      merge()
    },
    stop: () => cancel?.(),
  }
}
