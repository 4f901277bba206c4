import { type ObjectRecord, objectKeyOf, type RecordName } from './object-record.ts'

/*
 * The rule by which every process computes the objects from the config topic.
 *
 * Kafka has no conditional write, so two processes may write the same version of an object. All
 * processes read the records in the same order, and by these rules all of them apply the same
 * records:
 * - A record is applied only if its version is the current version of the object plus 1. So of two
 *   records with the same version, the first one is applied.
 * - A creation is applied only if the object does not exist. An update or a deletion is applied
 *   only if it exists.
 * - A deletion has a version too. The topic keeps its tombstone, so the versions of an object never
 *   start again.
 * - The first record of an object that a process reads is always applied, because compaction may
 *   have removed the records before it.
 *
 * All other records are ignored.
 *
 * Compaction keeps only the last record of a key, which can be an ignored one. A process that
 * starts after compaction would then read the ignored record first and apply it. So after an
 * ignored record, a process writes a copy of the current version. The copy must be written within
 * the compaction lag of the topic: in this time, Kafka does not compact the records. Each copy has
 * a copy number, which is 1 or higher. A process applies a copy if it knows a lower version of the
 * object, or the same version with a lower copy number.
 *
 * Kafka can also lose all records of an object, for example when the topic is deleted and created
 * again. Each process that has the object in memory then keeps it, and writes a copy unless it has
 * already read a copy of another process.
 */

/**
 * The last applied record of an object: the current version of the object. A deletion is a version
 * too.
 */
export type KnownVersion = ObjectRecord

export type FoldResult =
  /** The record is now the current version of the object. */
  | 'applied'
  /**
   * The record has the version and the write id of the current version: it is a copy, or the
   * producer wrote the record twice. The object stays the same.
   */
  | 'repeated'
  /**
   * The record is a copy, and replaces the current version in this process. For example, this
   * process started after compaction, and so it applied a record that must be ignored.
   */
  | 'restored'
  /** The record does not follow the current version. For example, its version is the same. */
  | 'ignored'

/** The version of the next change of an object. `known` is its current version. */
export const nextVersionOf = (known: Pick<KnownVersion, 'version'> | undefined): number => (known?.version ?? 0) + 1

/**
 * Decides by the rule at the top of this file what a record changes. `known` is the current version
 * of the object; `undefined` if no record of the object was read before.
 */
function foldRecord(known: KnownVersion | undefined, record: ObjectRecord): FoldResult {
  if (known === undefined) return 'applied'
  if (record.version === known.version && record.writeId === known.writeId) return 'repeated'
  if (record.copy > 0) {
    const isLater = record.version > known.version || (record.version === known.version && record.copy > known.copy)
    return isLater ? 'restored' : 'ignored'
  }
  const isFitting = (record.action === 'created') === (known.action === 'deleted')
  return isFitting && record.version === known.version + 1 ? 'applied' : 'ignored'
}

/** Computes the objects from the records of the config topic, in offset order. */
export class ObjectLog {
  readonly #known = new Map<string, KnownVersion>()
  readonly #needCopy = new Map<string, RecordName>()

  /** Adds the next record of the topic, and returns what it changed. */
  apply(record: ObjectRecord): FoldResult {
    const key = objectKeyOf(record)
    const known = this.#known.get(key)
    const result = foldRecord(known, record)
    switch (result) {
      case 'applied':
      case 'restored':
        this.#known.set(key, record)
        break
      case 'repeated':
        // The copy number is stored, because the next copy of this version needs a higher one.
        if (known !== undefined && record.copy > known.copy) this.#known.set(key, { ...known, copy: record.copy })
        break
      case 'ignored':
        this.ignore(record)
        return result
    }
    // After an ignored record, this process writes copies of the current version until it reads a
    // copy. A later change of the object does not make the copy unnecessary. A process that starts
    // after compaction may read the ignored record first, and apply it. That process then ignores
    // the later change, unless the version of this change is that of the ignored record plus 1.
    if (record.copy > 0) this.#needCopy.delete(key)
    return result
  }

  /**
   * Notes that the last record of an object in the topic is ignored. After compaction, this record
   * would be the only one of the object, so the current version must be written again as a copy.
   */
  ignore({ kind, id }: RecordName): void {
    const key = objectKeyOf({ kind, id })
    if (this.#known.has(key)) this.#needCopy.set(key, { kind, id })
  }

  /**
   * Adds an object whose records Kafka has lost, with the version that this process still has in
   * memory. A process must write this version again, as a copy.
   */
  keep(known: KnownVersion): void {
    this.#known.set(objectKeyOf(known), known)
    this.ignore(known)
  }

  /**
   * The current version of an object. A deletion is a version too. `undefined` when no record of
   * the object was read.
   */
  get(name: RecordName): KnownVersion | undefined {
    return this.#known.get(objectKeyOf(name))
  }

  /** All objects, also deleted ones, in the order of their first record. */
  all(): Iterable<KnownVersion> {
    return this.#known.values()
  }

  /**
   * Whether the current version of the object must be written to the topic again. The reason is
   * that Kafka has lost all records of the object, or that a record of the object was ignored.
   * Compaction may remove the records before the ignored record. Without a copy, a process that
   * starts later would then read the ignored record first, and apply it. No copy is needed after a
   * copy of the current version was read.
   */
  needsCopy(name: RecordName): boolean {
    return this.#needCopy.has(objectKeyOf(name))
  }

  /** All objects whose current version must be written to the topic again (see `needsCopy`). */
  allToCopy(): readonly RecordName[] {
    return [...this.#needCopy.values()]
  }
}

/**
 * The record that repeats the current version of an object. `ObjectLog.needsCopy` says when and why
 * it must be written.
 */
export const copyOf = (known: KnownVersion): ObjectRecord => ({ ...known, copy: known.copy + 1 })
