import { type ObjectRecord, objectKeyOf, type RecordName } from './object-record.ts'

/*
 * The rule by which every process computes the objects from the config topic.
 *
 * Kafka has no conditional write, so two processes may write the same version. All processes read
 * the records in one order, and apply the same ones:
 * - A record is applied only if its version is the current version plus 1.
 * - A creation is applied only if the object does not exist; other changes only if it exists.
 * - The first record of an object that a process reads is always applied, because compaction may
 *   have removed earlier ones.
 * - A deletion has a version, and its tombstone stays in the topic, so versions never start again.
 *
 * Compaction could keep an ignored record as the last one. A process that starts later would then
 * apply it. So after an ignored record, a process writes a copy of the current version, within the
 * compaction lag. A process applies a copy if it knows a lower version, or the same version with a
 * lower copy number.
 *
 * If Kafka loses all records of an object, each process keeps the object, and writes a copy unless
 * it has already read one.
 */

/** The current version of an object: its last applied record, which may be a deletion. */
export type KnownVersion = ObjectRecord

export type ApplyResult =
  /** The record is now the current version of the object. */
  | 'applied'
  /** The record repeats the current version: it is a copy, or the producer wrote it twice. */
  | 'repeated'
  /**
   * A copy replaces the current version in this process, which may have applied a record that other
   * processes ignored.
   */
  | 'restored'
  /** The record does not follow the current version. */
  | 'ignored'

/** The version of the next change of an object. */
export const nextVersionOf = (known: Pick<KnownVersion, 'version'> | undefined): number => (known?.version ?? 0) + 1

/**
 * Decides by the rule at the top of this file whether a record is applied. `known` is the current
 * version of the object, if any.
 */
function judgeRecord(known: KnownVersion | undefined, record: ObjectRecord): ApplyResult {
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

  apply(record: ObjectRecord): ApplyResult {
    const key = objectKeyOf(record)
    const known = this.#known.get(key)
    const result = judgeRecord(known, record)
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
        this.requestCopy(record)
        return result
    }
    // Only a copy removes the need for a copy. A later change does not, because compaction may keep
    // the ignored record: a new process would then apply this record and ignore the change.
    if (record.copy > 0) this.#needCopy.delete(key)
    return result
  }

  /**
   * Notes that the last record of an object in the topic is ignored, so that a copy must be
   * written.
   */
  requestCopy({ kind, id }: RecordName): void {
    const key = objectKeyOf({ kind, id })
    if (this.#known.has(key)) this.#needCopy.set(key, { kind, id })
  }

  /**
   * Adds an object whose records Kafka has lost, with the version that this process still has in
   * memory.
   */
  restoreLost(known: KnownVersion): void {
    this.#known.set(objectKeyOf(known), known)
    this.requestCopy(known)
  }

  /**
   * The current version of an object, which may be a deletion. `undefined` if this process has read
   * no record of the object.
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
