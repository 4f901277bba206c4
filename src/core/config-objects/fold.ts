import { type ObjectRecord, objectKeyOf, type RecordName } from './object-record.ts'

/*
 * The rule by which every process computes the objects from the config topic.
 *
 * Kafka has no conditional write, so two writers may write the same version. Each record is based on
 * the version before it; all processes read the records in the same order, and the first record of a
 * version counts:
 * - A creation counts when the object does not exist, an update or a deletion when it does. The
 *   version must be the next one. A deletion has a version too, and the topic keeps it, so versions
 *   never start again.
 * - Nothing is known about the object: any record counts, because compaction may have removed the
 *   records before it.
 * All other records are ignored. Compaction keeps the last record of a key, and a process that starts
 * after compaction may read an ignored record as the first one. So a process with a writer that reads
 * an ignored record writes a copy of the version in force after it, within the compaction lag of the
 * topic. The copy replaces whatever a process has with a lower version, or with the same version and
 * a lower number of the copy.
 */

/** The version of an object that is in force. A deletion is a version too. */
export type KnownVersion = ObjectRecord

export type FoldResult =
  /** The record is in force. */
  | 'applied'
  /** The record has the content that is in force already: a copy, or a duplicate. */
  | 'repeated'
  /** The record is a copy that replaces an ignored record, which was in force here. */
  | 'restored'
  /** Another record has the version, or the record is based on an old one. */
  | 'ignored'

/** Decides what a record means for an object of which `known` is in force. */
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

/** The objects, computed from the records of the topic in their order. */
export class ObjectLog {
  readonly #known = new Map<string, KnownVersion>()
  readonly #needCopy = new Map<string, RecordName>()

  /** Adds the next record of the topic. */
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
        // The next copy needs a higher number.
        if (known !== undefined && record.copy > known.copy) this.#known.set(key, { ...known, copy: record.copy })
        break
      case 'ignored':
        this.ignore(record)
        return result
    }
    // A change after an ignored record does not replace the copy: a process may have read the ignored
    // record as the first one, and ignore the change.
    if (record.copy > 0) this.#needCopy.delete(key)
    return result
  }

  /** Notes that the last record of an object is not the one in force. */
  ignore(name: RecordName): void {
    if (this.#known.has(objectKeyOf(name))) this.#needCopy.set(objectKeyOf(name), name)
  }

  /** The version in force; a deletion counts as one. */
  get(name: RecordName): KnownVersion | undefined {
    return this.#known.get(objectKeyOf(name))
  }

  /** All objects, also deleted ones, in the order of their first record. */
  all(): Iterable<KnownVersion> {
    return this.#known.values()
  }

  /**
   * Whether the last record of the object was ignored, and no copy of the version in force follows
   * it yet.
   */
  needsCopy(name: RecordName): boolean {
    return this.#needCopy.has(objectKeyOf(name))
  }

  /** The objects for which `needsCopy` is true. */
  allToCopy(): readonly RecordName[] {
    return [...this.#needCopy.values()]
  }
}

/** The copy of the version in force that must follow an ignored record. */
export const copyOf = (known: KnownVersion): ObjectRecord => ({ ...known, copy: known.copy + 1 })
