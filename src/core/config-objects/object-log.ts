import { type ObjectRecord, objectKeyOf, type RecordName } from './object-record.ts'

/*
 * The rule by which every process computes the objects from the config topic.
 *
 * Kafka has no conditional write, so two processes may write the same version of an object. All
 * processes read the records in the same order, and apply the same records by these rules:
 * - A record is applied only if its version is the current version of the object plus 1. So of two
 *   records with the same version, the first one is applied.
 * - A creation is applied only if the object does not exist. An update or a deletion is applied
 *   only if it exists.
 * - A deletion has a version too. The topic keeps its tombstone, so the versions of an object never
 *   start again.
 * - The first record of an object that a process reads is always applied, because compaction may
 *   have removed the records before it.
 *
 * All other records are ignored. Compaction could keep an ignored record as the last one of its
 * key. A process that starts later would then apply it. So after an ignored record, a process
 * writes a copy of the current version, within the compaction lag of the topic. Each copy has a
 * copy number, which is 1 or higher. A process applies a copy if it knows a lower version of the
 * object, or the same version with a lower copy number.
 *
 * Kafka can also lose all records of an object, for example when the topic is deleted and created
 * again. Each process that has the object in memory then keeps it, and writes a copy unless it has
 * already read one.
 */

/** The last applied record of an object, also a deletion: the current version of the object. */
export type KnownVersion = ObjectRecord

export type FoldResult =
  /** The record is now the current version of the object. */
  | 'applied'
  /**
   * The record has the version and the write id of the current version: it is a copy, or the
   * producer wrote the record twice.
   */
  | 'repeated'
  /**
   * The record is a copy, and replaces the current version in this process. For example, this
   * process started after compaction, and applied a record that other processes ignore.
   */
  | 'restored'
  /** The record does not follow the current version. */
  | 'ignored'

/** The version of the next change of an object. */
export const nextVersionOf = (known: Pick<KnownVersion, 'version'> | undefined): number => (known?.version ?? 0) + 1

/**
 * Decides by the rule at the top of this file what a record changes. `known` is the current version
 * of the object; `undefined` if none was read before.
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
    // Only a copy makes further copies unnecessary; a later change does not. A process that starts
    // after compaction may apply the ignored record, and then ignore the later change.
    if (record.copy > 0) this.#needCopy.delete(key)
    return result
  }

  /**
   * Notes that the last record of an object in the topic is ignored, so that a copy must be
   * written.
   */
  ignore({ kind, id }: RecordName): void {
    const key = objectKeyOf({ kind, id })
    if (this.#known.has(key)) this.#needCopy.set(key, { kind, id })
  }

  /**
   * Adds an object whose records Kafka has lost, with the version that this process still has in
   * memory.
   */
  keep(known: KnownVersion): void {
    this.#known.set(objectKeyOf(known), known)
    this.ignore(known)
  }

  /**
   * The current version of an object, also a deletion. `undefined` when no record of it was read.
   */
  get(name: RecordName): KnownVersion | undefined {
    return this.#known.get(objectKeyOf(name))
  }

  /** All objects, also deleted ones, in the order of their first record. */
  all(): Iterable<KnownVersion> {
    return this.#known.values()
  }

  /**
   * Whether a copy of the current version must be written (see the rule at the top of this file).
   */
  needsCopy(name: RecordName): boolean {
    return this.#needCopy.has(objectKeyOf(name))
  }

  /** All objects for which `needsCopy` is true. */
  allToCopy(): readonly RecordName[] {
    return [...this.#needCopy.values()]
  }
}

/** The record that repeats the current version of an object. */
export const copyOf = (known: KnownVersion): ObjectRecord => ({ ...known, copy: known.copy + 1 })
