import type { InputEffect } from './input-effect.ts'
import {
  fromMembershipRecord,
  fromWatermarkRecord,
  parseMembershipKey,
  type ReadRecord,
  toMembershipRecord,
  toWatermarkRecord,
} from './membership-and-watermark-records.ts'
import { Memberships } from './memberships.ts'
import { type AudienceWatermark, emptyWatermark } from './sync-watermark.ts'

/**
 * The result of restoring a record of the memberships topic.
 * - `taken`: the record has the newest known state of its key.
 * - `stale`: a later state of the key is known. The caller must write that state again, so that it
 *   is the last record of the key.
 * - `unreadable`: Hookline did not write the record.
 */
export type Restored = 'taken' | 'stale' | 'unreadable'

type About = NonNullable<ReturnType<typeof parseMembershipKey>>

/**
 * The memberships and watermarks of one partition, restored from the memberships topic. Of all
 * records of a key, the one with the highest input offset is valid, even if it is not the last one
 * in the log: a previous owner of the partition may append its last states long after the
 * reassignment.
 */
export class PartitionRecords {
  readonly members = new Memberships()
  readonly #marks = new Map<string, AudienceWatermark>()
  /**
   * For each key whose newest known record is a tombstone: the offset of the input that caused it.
   * Empty after the restore.
   */
  readonly #removed = new Map<string, number>()
  /** The keys whose last record read so far is stale, with the input offset of the valid state. */
  readonly #stale = new Map<string, number>()
  readonly #inputEnd: number
  #isRestored = false

  /**
   * @param inputEnd end offset of the input partition when the restore begins. A record with an
   *   input offset at or beyond this end is from an input topic that was deleted and created again.
   *   It counts as older than every other record of its key. When the new topic has reached that
   *   offset, the record wrongly counts as newer. So an operator must create the memberships topic
   *   again too (runbook of `HooklineRecordsLost`).
   */
  constructor(inputEnd: number) {
    this.#inputEnd = inputEnd
  }

  markOf(audience: string): AudienceWatermark {
    return this.#marks.get(audience) ?? emptyWatermark
  }

  setMark(audience: string, mark: AudienceWatermark): void {
    this.#marks.set(audience, mark)
  }

  /**
   * Applies one record of the memberships topic. The caller must pass all records in log order
   * before it processes the first input.
   */
  restore(record: ReadRecord): Restored {
    const about = aboutOf(record)
    if (about === undefined) return 'unreadable'
    const known = this.#positionOf(record.key, about)
    const position = this.#placed(record.position)
    if (known !== undefined && position !== undefined && position < known) {
      this.#stale.set(record.key, known)
      return 'stale'
    }
    this.#stale.delete(record.key)
    this.#put(about, record, position ?? known ?? -1)
    return 'taken'
  }

  /**
   * Ends the restore. Returns one entry for each key whose last record is stale, with the input
   * offset of the valid state. The caller passes each entry to `replacementOf`, and writes the
   * result to Kafka.
   */
  restored(): readonly ReadRecord[] {
    const stale = [...this.#stale].map(([key, position]) => ({ key, value: undefined, position }))
    this.#isRestored = true
    this.#removed.clear()
    this.#stale.clear()
    return stale
  }

  /**
   * Handles a record of the memberships topic that another process wrote, or for which this process
   * got no acknowledgement. No input of the record's user may be in progress. If this process has
   * processed the input of the record (`isDone`), the state in memory stays valid. Otherwise the
   * record is applied as during a restore.
   */
  adopt(record: ReadRecord, isDone: (position: number) => boolean): Restored {
    const about = aboutOf(record)
    if (about === undefined) return 'unreadable'
    if (!isDone(record.position ?? -1)) {
      const result = this.restore(record)
      this.#stale.clear()
      return result
    }
    return isSame(record.value, this.#recordOf(about)) ? 'taken' : 'stale'
  }

  /**
   * Returns the effect that writes the known state of a key to the memberships topic again, after a
   * stale record of the key. `undefined` when the key is neither that of a membership nor that of a
   * watermark.
   */
  replacementOf({ key, position = -1 }: ReadRecord): InputEffect | undefined {
    const about = parseMembershipKey(key)
    if (about === undefined) return undefined
    if (!('userId' in about)) {
      const mark = this.markOf(about.audience)
      const raised = { ...mark, position: Math.max(mark.position, position) }
      this.setMark(about.audience, raised)
      return { kind: 'mark', audience: about.audience, mark: raised }
    }
    const held = this.members.get(about)
    const raised = Math.max(held?.position ?? -1, position)
    const state = held && { ...held, position: raised }
    if (state !== undefined) this.members.put(about, state)
    return { kind: 'membership', key: about, identify: undefined, state, position: raised }
  }

  #placed(position: number | undefined): number | undefined {
    return position === undefined || this.#isRestored || position < this.#inputEnd ? position : -1
  }

  #positionOf(key: string, about: About): number | undefined {
    if (!('userId' in about)) return this.#marks.get(about.audience)?.position
    return this.members.positionOf(about) ?? this.#removed.get(key)
  }

  #recordOf(about: About): ReadRecord['value'] {
    if (!('userId' in about)) return toWatermarkRecord(this.markOf(about.audience))
    const held = this.members.get(about)
    return held && toMembershipRecord(held)
  }

  #put(about: About, { key, value }: ReadRecord, position: number): void {
    if (!('userId' in about)) {
      const mark = value && fromWatermarkRecord(value)
      return this.setMark(about.audience, mark === undefined ? emptyWatermark : { ...mark, position })
    }
    const state = value && fromMembershipRecord(value)
    this.members.put(about, state && { ...state, position })
    if (state !== undefined) this.#removed.delete(key)
    else if (!this.#isRestored) this.#removed.set(key, position)
  }
}

/**
 * Parses the key of a record. `undefined` when Hookline did not write the record: the key has
 * another form, or does not fit the value.
 */
function aboutOf({ key, value }: ReadRecord): About | undefined {
  const about = parseMembershipKey(key)
  if (about === undefined || value === undefined) return about
  return ('userId' in about ? value.membership : value.mark) === null ? undefined : about
}

const isSame = (a: ReadRecord['value'], b: ReadRecord['value']): boolean =>
  JSON.stringify(plain(a)) === JSON.stringify(plain(b))

/**
 * Returns the record with its fields in a fixed order, so that equal records have equal JSON texts.
 */
const plain = (value: ReadRecord['value']): unknown => {
  if (value === undefined) return null
  const state = fromMembershipRecord(value)
  return state === undefined ? fromWatermarkRecord(value) : toMembershipRecord(state)
}
