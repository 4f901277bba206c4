import { type ObjectRecord, objectKeyOf, type RecordName } from './object-record.ts'

/*
 * The rule by which every process computes the objects from the config topic.
 *
 * Kafka has no conditional write, so two writers may write the same version. All processes read the
 * records in the same order. Each record is based on the version before it, and the first record of
 * a version counts:
 * - A creation counts when the object does not exist. An update or a deletion counts when it does.
 *   The version must be the next one.
 * - A deletion has a version too. The topic keeps its tombstone, so the versions of an object never
 *   start again.
 * - The first record of an object that a process reads always counts, because compaction may have
 *   removed the records before it.
 *
 * All other records are ignored.
 *
 * Compaction keeps only the last record of a key, which can be an ignored one. A process that
 * starts after compaction would then read the ignored record first and apply it. So after an
 * ignored record, each process that can write to the topic writes a copy of the current version
 * (the last record that counts). The copy must be written within the compaction lag of the topic. A
 * copy replaces a lower version, and the same version with a lower copy number.
 */

/**
 * The last record of an object that counts: the current version of the object. A deletion is a
 * version too.
 */
export type KnownVersion = ObjectRecord

export type FoldResult =
  /** The record counts: it is now the current version of the object. */
  | 'applied'
  /**
   * The record is a copy of the current version, or the producer wrote the current version twice.
   * It has the same version and write id.
   */
  | 'repeated'
  /**
   * The record is a copy of the version that counts. It replaces a record that this process had
   * applied, but that the other processes had ignored.
   */
  | 'restored'
  /** Another record already has this version, or the record is based on an old version. */
  | 'ignored'

/** The version of the next change of an object. `known` is its current version. */
export const nextVersionOf = (known: Pick<KnownVersion, 'version'> | undefined): number => (known?.version ?? 0) + 1

/** Decides whether a record counts for an object. `known` is the current version of the object. */
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
        // Keep the copy number, because the next copy of this version needs a higher one.
        if (known !== undefined && record.copy > known.copy) this.#known.set(key, { ...known, copy: record.copy })
        break
      case 'ignored':
        this.ignore(record)
        return result
    }
    // The mark that the object needs a copy is removed only when a copy is read. A later change
    // does not replace the copy: after compaction, a process may read the ignored record first,
    // apply it, and then ignore the later change.
    if (record.copy > 0) this.#needCopy.delete(key)
    return result
  }

  /**
   * Notes that the last record of an object in the topic is ignored. After compaction it would be
   * the only one, so the current version must be written again as a copy.
   */
  ignore(name: RecordName): void {
    if (this.#known.has(objectKeyOf(name))) this.#needCopy.set(objectKeyOf(name), name)
  }

  /**
   * The current version of an object. A deletion is a version too. `undefined` when no record was
   * read.
   */
  get(name: RecordName): KnownVersion | undefined {
    return this.#known.get(objectKeyOf(name))
  }

  /** All objects, also deleted ones, in the order of their first record. */
  all(): Iterable<KnownVersion> {
    return this.#known.values()
  }

  /**
   * Whether the current version of the object must be written to the topic again: the last record
   * of the object was ignored, and no copy of the current version was read after it.
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
 * The record that writes the current version of an object again, after a record that all processes
 * ignore.
 */
export const copyOf = (known: KnownVersion): ObjectRecord => ({ ...known, copy: known.copy + 1 })
