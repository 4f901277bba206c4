import { type AudienceWatermark, emptyWatermark } from './audience-watermark.ts'
import type { InputEffect } from './input-effect-types.ts'
import {
  fromMembershipRecord,
  fromWatermarkRecord,
  parseMembershipKey,
  type ReadRecord,
  toMembershipRecord,
  toWatermarkRecord,
} from './membership-and-watermark-records.ts'
import { Memberships } from './memberships.ts'

/**
 * The result of restoring a record:
 * - `taken`: the record has the newest known state of its key.
 * - `stale`: a later state is known. The caller must write the later state again, so that the last
 *   record of the key has it.
 * - `unreadable`: Hookline did not write the record.
 */
export type Restored = 'taken' | 'stale' | 'unreadable'

type ParsedKey = NonNullable<ReturnType<typeof parseMembershipKey>>

/**
 * The memberships and watermarks in a partition's records. Each record has the offset of the input
 * that caused it. Of the records with the same key, the one with the highest input offset is valid,
 * not the last one: a previous owner of the partition may append old states late.
 */
export class PartitionRecords {
  readonly members = new Memberships()
  readonly #watermarks = new Map<string, AudienceWatermark>()
  /**
   * For each key whose newest known record is a tombstone: the input offset of this tombstone.
   * Empty after the restore.
   */
  readonly #removed = new Map<string, number>()
  /**
   * For each key whose last record so far is not valid, because an earlier record has a higher
   * input offset: this higher input offset.
   */
  readonly #stale = new Map<string, number>()
  readonly #inputEnd: number
  #isRestored = false

  /**
   * @param inputEnd end offset of the input partition. A record with an input offset at or beyond
   *   `inputEnd` was written before the input topic was deleted and created again. So the record
   *   counts as older than all others.
   */
  constructor(inputEnd: number) {
    this.#inputEnd = inputEnd
  }

  watermarkOf(audience: string): AudienceWatermark {
    return this.#watermarks.get(audience) ?? emptyWatermark
  }

  setWatermark(audience: string, watermark: AudienceWatermark): void {
    this.#watermarks.set(audience, watermark)
  }

  /**
   * Applies one record. The caller must pass all records, in log order, before it processes the
   * first input.
   */
  restore(record: ReadRecord): Restored {
    const parsedKey = parsedKeyOf(record)
    if (parsedKey === undefined) return 'unreadable'
    const known = this.#positionOf(record.key, parsedKey)
    const position = this.#placed(record.position)
    if (known !== undefined && position !== undefined && position < known) {
      this.#stale.set(record.key, known)
      return 'stale'
    }
    this.#stale.delete(record.key)
    this.#put(parsedKey, record, position ?? known ?? -1)
    return 'taken'
  }

  /**
   * Ends the restore. Returns an entry for each key whose last record is stale. The caller must
   * pass each entry to `replacementOf`, and write the result to Kafka.
   */
  endRestore(): readonly ReadRecord[] {
    const stale = [...this.#stale].map(([key, position]) => ({ key, value: undefined, position }))
    this.#isRestored = true
    this.#removed.clear()
    this.#stale.clear()
    return stale
  }

  /**
   * Handles a record that appears after the restore: another process wrote it, or Kafka did not
   * acknowledge the write of this process. Call this only while no input of the record's user is in
   * progress.
   */
  applyLateRecord(record: ReadRecord, isDone: (position: number) => boolean): Restored {
    const parsedKey = parsedKeyOf(record)
    if (parsedKey === undefined) return 'unreadable'
    if (!isDone(record.position ?? -1)) {
      const result = this.restore(record)
      this.#stale.clear()
      return result
    }
    return isSame(record.value, this.#recordOf(parsedKey)) ? 'taken' : 'stale'
  }

  /**
   * Returns the effect that writes the valid state of a key again, because the last record of the
   * key is `stale`. Returns `undefined` if Hookline did not write the key.
   */
  replacementOf({ key, position = -1 }: ReadRecord): InputEffect | undefined {
    const parsedKey = parseMembershipKey(key)
    if (parsedKey === undefined) return undefined
    if (!('userId' in parsedKey)) {
      const watermark = this.watermarkOf(parsedKey.audience)
      const raised = { ...watermark, position: Math.max(watermark.position, position) }
      this.setWatermark(parsedKey.audience, raised)
      return { kind: 'watermark', audience: parsedKey.audience, watermark: raised }
    }
    const held = this.members.get(parsedKey)
    const raised = Math.max(held?.position ?? -1, position)
    const state = held && { ...held, position: raised }
    if (state !== undefined) this.members.put(parsedKey, state)
    return { kind: 'membership', key: parsedKey, identify: undefined, state, position: raised }
  }

  #placed(position: number | undefined): number | undefined {
    return position === undefined || this.#isRestored || position < this.#inputEnd ? position : -1
  }

  #positionOf(key: string, parsedKey: ParsedKey): number | undefined {
    if (!('userId' in parsedKey)) return this.#watermarks.get(parsedKey.audience)?.position
    return this.members.positionOf(parsedKey) ?? this.#removed.get(key)
  }

  #recordOf(parsedKey: ParsedKey): ReadRecord['value'] {
    if (!('userId' in parsedKey)) return toWatermarkRecord(this.watermarkOf(parsedKey.audience))
    const held = this.members.get(parsedKey)
    return held && toMembershipRecord(held)
  }

  #put(parsedKey: ParsedKey, { key, value }: ReadRecord, position: number): void {
    if (!('userId' in parsedKey)) {
      const watermark = value && fromWatermarkRecord(value)
      return this.setWatermark(
        parsedKey.audience,
        watermark === undefined ? emptyWatermark : { ...watermark, position },
      )
    }
    const state = value && fromMembershipRecord(value)
    this.members.put(parsedKey, state && { ...state, position })
    if (state !== undefined) this.#removed.delete(key)
    else if (!this.#isRestored) this.#removed.set(key, position)
  }
}

/**
 * Returns the parsed key of a record; `undefined` when Hookline did not write the record: the key
 * is malformed, or does not fit the value.
 */
function parsedKeyOf({ key, value }: ReadRecord): ParsedKey | undefined {
  const parsedKey = parseMembershipKey(key)
  if (parsedKey === undefined || value === undefined) return parsedKey
  return ('userId' in parsedKey ? value.membership : value.mark) === null ? undefined : parsedKey
}

const isSame = (a: ReadRecord['value'], b: ReadRecord['value']): boolean =>
  JSON.stringify(canonicalValue(a)) === JSON.stringify(canonicalValue(b))

/**
 * Returns the record with its fields in a fixed order, so that equal records have equal JSON texts.
 */
const canonicalValue = (value: ReadRecord['value']): unknown => {
  if (value === undefined) return null
  const state = fromMembershipRecord(value)
  return state === undefined ? fromWatermarkRecord(value) : toMembershipRecord(state)
}
