import { type Merged, mergeObjects } from '../../core/config-objects/merge.ts'
import type { ReadingContext } from '../../core/config-objects/read-object.ts'
import { encryptionKeysOf } from '../../core/encryption-key.ts'
import type { Cancel, Clock } from '../../core/ports.ts'
import type { Settings } from '../../core/settings/settings.ts'
import { durationMs } from '../../core/time.ts'
import type { ObjectStore } from '../../services/config-objects/object-store.ts'

/**
 * Minimum time between two merges that changes of objects cause. A merge with 10,000 objects takes a
 * few milliseconds, in which no delivery starts. The time is longer if a merge takes long, so that a
 * burst of changes delays at most 1 % of the deliveries and does not raise their p99, but at most
 * half a second, so that a change is in force within a second.
 */
const interval = { min: 100, max: 500, perMerge: 100 }

/** The part of the object store that a merge uses. */
export type FollowedObjects = Pick<ObjectStore, 'objects' | 'failures' | 'listen' | 'readAgain' | 'reading'>

/**
 * The settings in use: those of the file together with the objects of the config topic. Each change
 * of either replaces all of them in one step.
 */
export interface MergedSettings {
  /** The last merge. */
  get(): Merged
  /** The settings of the file. */
  file(): Settings
  /** Replaces the settings of the file, and merges immediately. */
  applyFile(settings: Settings): void
  /** Merges the objects now, and soon after each change: once for all changes of a burst. */
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

/** The keys and settings with which the objects of the config topic are read. */
export const readingContextOf = ({ operator, given }: Settings): ReadingContext => ({
  keys: encryptionKeysOf(operator.encryptionKeys ?? []),
  context: given?.context ?? {},
})

/** A removed key stays in use until the restart. Otherwise all objects would be excluded. */
const readingAfter = (settings: Settings, before: ReadingContext | undefined): ReadingContext =>
  settings.operator.encryptionKeys === undefined && before !== undefined
    ? { ...readingContextOf(settings), keys: before.keys }
    : readingContextOf(settings)

const isSameReading = (a: ReadingContext, b: ReadingContext): boolean =>
  JSON.stringify([a.keys.map(({ id }) => id), a.context]) === JSON.stringify([b.keys.map(({ id }) => id), b.context])

export function createMergedSettings({ file: initial, apply, clock }: Deps): MergedSettings {
  let file = initial
  let objects: FollowedObjects | undefined
  let merged = mergeObjects(file, [])
  /** A time of `Clock.monotonic`. */
  let earliest = Number.NEGATIVE_INFINITY
  let cancel: Cancel | undefined

  function merge(): void {
    cancel?.()
    cancel = undefined
    const startedAt = clock.monotonic()
    merged = mergeObjects(file, objects?.objects() ?? [], objects?.failures)
    apply(merged)
    const tookMs = clock.monotonic() - startedAt
    earliest = startedAt + Math.min(interval.max, Math.max(interval.min, interval.perMerge * tookMs))
  }

  function mergeSoon(): void {
    const wait = durationMs(Math.max(0, earliest - clock.monotonic()))
    cancel ??= clock.after(wait, merge)
  }

  return {
    get: () => merged,
    file: () => file,
    applyFile(settings) {
      file = settings
      const reading = readingAfter(settings, objects?.reading)
      if (objects !== undefined && !isSameReading(reading, objects.reading)) objects.readAgain(reading)
      merge()
    },
    follow(followed) {
      objects = followed
      followed.listen({ onChange: mergeSoon })
      merge()
    },
    stop() {
      cancel?.()
    },
  }
}
