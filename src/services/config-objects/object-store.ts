import type { FailureState } from '../../core/auto-disable/judge-failures.ts'
import type { RecentChangeList } from '../../core/config-objects/config-objects.ts'
import { failureStateIn } from '../../core/config-objects/destination-failure-record.ts'
import {
  configPartition,
  decodeRecord,
  isObjectRecord,
  type ObjectName,
  type ObjectRecord,
  type RecordName,
} from '../../core/config-objects/object-record.ts'
import { type ApplyResult, type KnownVersion, ObjectLog } from '../../core/config-objects/objects-from-topic.ts'
import type { ReadingContext, ReadObject } from '../../core/config-objects/read-object.ts'
import { RecentChanges } from '../../core/config-objects/recent-changes.ts'
import { unreadBatchFields } from '../../core/logging/unread-batch-fields.ts'
import type { Clock, Logger, LogRecord, TopicFollower } from '../../core/ports.ts'
import type { DurationMs } from '../../core/time.ts'
import { CatchUp } from './await-end-of-config-topic.ts'
import { ObjectReadingCache } from './object-reading-cache.ts'

interface Deps {
  /** Follows the config topic from its beginning. */
  readonly follower: TopicFollower
  readonly topic: string
  readonly logger: Logger
  readonly reading: ReadingContext
  readonly clock: Pick<Clock, 'boottime' | 'after'>
}

export interface StoreListener {
  /** Called with each record. `before`: the version of the object that was current until then. */
  onRecord?(record: ObjectRecord, result: ApplyResult, before: KnownVersion | undefined): void
  /**
   * Called when an object or the automatic disabling of a destination changes; `undefined`: any
   * object may have changed. Must be cheap.
   */
  onChange?(record: ObjectRecord | undefined): void
  /**
   * Called for each damaged record of an object. If this process has a version of the object, this
   * version must be written again, so `allToCopy` then includes the object's name.
   */
  onDamaged?(): void
  /**
   * Called when Kafka has lost every record of an object. This process still has the object in
   * memory, and `allToCopy` includes its name.
   */
  onObjectsLost?(): void
}

/** The objects of the config topic. A value is decoded when its object is first needed. */
export interface ObjectStore {
  /** Resolves when the topic has been read to its end. Rejects if this fails after all retries. */
  start(): Promise<void>
  stop(): Promise<void>
  listen(listener: StoreListener): void
  /**
   * Resolves with true when all records that Kafka acknowledged before the call were read, or with
   * false after 10 s.
   */
  caughtUp(): Promise<boolean>
  /**
   * The age of the objects: this process has read all records that Kafka acknowledged at least this
   * many milliseconds ago. Infinite until the topic was first read to its end.
   */
  age(): DurationMs
  /** Decodes all objects again, after a change of the encryption keys or the settings. */
  readAgain(reading: ReadingContext): void
  readonly reading: ReadingContext
  /** All objects that exist. */
  objects(): Iterable<ReadObject>
  object(name: ObjectName): ReadObject | undefined
  /** The failure states of destinations, by id. */
  readonly failures: ReadonlyMap<string, FailureState>
  /** The current version of an object or failure state, perhaps a deletion. */
  known(name: RecordName): KnownVersion | undefined
  /**
   * The objects and failure states whose current version must be written again, because Kafka lost
   * this version, or because compaction would keep only a later record that is ignored.
   */
  allToCopy(): readonly RecordName[]
  changes(since?: number): RecentChangeList
  /**
   * Increases with every change of an object and every call of `readAgain`, so that callers can
   * cache lists.
   */
  readonly revision: number
}

const damaged =
  'hookline ignores a damaged record of the config topic (see "detail"), and keeps its current destinations and sources: find and stop the program that wrote the record, because only hookline may write to this topic'

const unread =
  'records of the config topic cannot be read (see "detail"), so hookline may miss some changes of destinations or sources: check the changes that were made at about the time in "writtenAt", and repeat those that are missing'

const objectsLost =
  'the config topic lost all records of some destinations or sources ("count" is the number of these objects); hookline now writes these records again from its memory: do not restart hookline during the next minute, then check with the operator API that the last changes of destinations and sources are present'

/** The state that is computed from the records of the topic. */
class View {
  readonly log = new ObjectLog()
  readonly changes = new RecentChanges()
  readonly failures = new Map<string, FailureState>()

  /** Called with the result of `log.apply(record)`. Returns whether an object may have changed. */
  apply(record: ObjectRecord, result: ApplyResult): boolean {
    if (result === 'applied') this.changes.add(record)
    if (result !== 'applied' && result !== 'restored') return false
    if (isObjectRecord(record)) return true
    const before = this.failures.get(record.id)
    const after = failureStateIn(record)
    if (after === undefined) this.failures.delete(record.id)
    else this.failures.set(record.id, after)
    return before?.disabled !== undefined || after?.disabled !== undefined
  }

  /**
   * Adds the objects that only an earlier view has, because their records are lost, and returns the
   * number of these objects.
   */
  restoreLostFrom(earlier: View): number {
    const lost = [...earlier.log.all()].filter(known => this.log.get(known) === undefined)
    for (const known of lost) {
      this.log.restoreLost(known)
      this.apply(known, 'restored')
    }
    return lost.length
  }
}

export function createObjectStore({ follower, topic, logger, reading, clock }: Deps): ObjectStore {
  const listeners: StoreListener[] = []
  const catchUp = new CatchUp(clock)
  const readings = new ObjectReadingCache(reading, logger)
  let view = new View()
  /**
   * The state while the topic is read again from its beginning, after Kafka has lost records. Until
   * the end is reached, callers get `view`.
   */
  let rebuilt: View | undefined
  let revision = 0

  function onRecord(read: LogRecord): void {
    if (read.partition !== configPartition) return
    const { offset, key, value, headers, unreadBatch } = read
    if (unreadBatch !== undefined) return logger.error(unreadBatchFields(read, unreadBatch), unread)
    const target = rebuilt ?? view
    const decoded = decodeRecord(key, value, headers, offset)
    if (decoded.kind !== 'record') {
      logger.error({ topic, partition: configPartition, offset, detail: decoded.detail }, damaged)
      if (decoded.kind === 'unknown') return
      target.log.requestCopy(decoded.name)
      for (const listener of listeners) listener.onDamaged?.()
      return
    }
    const before = target.log.get(decoded.record)
    const result = target.log.apply(decoded.record)
    if (target.apply(decoded.record, result) && rebuilt === undefined) changed(decoded.record)
    for (const listener of listeners) listener.onRecord?.(decoded.record, result, before)
  }

  function onCurrent(asOf: number): void {
    catchUp.onCurrent(asOf)
    if (rebuilt === undefined) return
    const count = rebuilt.restoreLostFrom(view)
    view = rebuilt
    rebuilt = undefined
    changed()
    if (count === 0) return
    logger.error({ topic, count }, objectsLost)
    for (const listener of listeners) listener.onObjectsLost?.()
  }

  function onTruncated(partition: number): void {
    if (partition === configPartition) rebuilt = new View()
  }

  function changed(record?: ObjectRecord): void {
    revision++
    for (const listener of listeners) listener.onChange?.(record)
  }

  return {
    start: () => follower.start({ onRecord, onCurrent, onTruncated }),
    stop: () => follower.stop(),
    caughtUp: () => catchUp.reached(),
    age: () => catchUp.age(),
    listen: listener => void listeners.push(listener),
    readAgain(context) {
      readings.readAgain(context)
      changed()
    },
    get reading() {
      return readings.context
    },
    *objects() {
      for (const known of view.log.all()) {
        const object = readings.of(known)
        if (object !== undefined) yield object
      }
    },
    object: name => readings.of(view.log.get(name)),
    get failures() {
      return view.failures
    },
    known: name => view.log.get(name),
    allToCopy: () => view.log.allToCopy(),
    changes: since => view.changes.since(since),
    get revision() {
      return revision
    },
  }
}
