import type { Change } from './change.ts'
import {
  fromMembershipRecord,
  fromWatermarkRecord,
  parseMembershipKey,
  type ReadRecord,
  toMembershipRecord,
  toWatermarkRecord,
} from './membership-record.ts'
import { Memberships } from './memberships.ts'
import { type AudienceWatermark, emptyWatermark } from './sync-watermark.ts'

/**
 * Result of restoring a record. `taken`: it has the current state of its key. `stale`: a later
 * state is known and has to be written again. `unreadable`: Hookline did not write the record.
 */
export type Restored = 'taken' | 'stale' | 'unreadable'

type About = NonNullable<ReturnType<typeof parseMembershipKey>>

/**
 * The memberships and watermarks of one partition, restored from the memberships topic. Each record
 * has the offset of the input that caused it. Of the records of one key, the one with the highest
 * input offset is valid, wherever it is in the log: a previous owner of the partition may append
 * its last states long after the partition was reassigned.
 */
export class PartitionRecords {
  readonly members = new Memberships()
  readonly #marks = new Map<string, AudienceWatermark>()
  /** Input offset of each tombstone that was read, by record key. Empty after the restore. */
  readonly #removed = new Map<string, number>()
  /** Keys whose last record read so far is stale, with the input offset of the valid state. */
  readonly #stale = new Map<string, number>()
  readonly #inputEnd: number
  #isRestored = false

  /**
   * @param inputEnd end offset of the input partition when the restore begins. A record with an
   *   input offset at or beyond this end refers to an earlier topic that was deleted and created
   *   again, so it counts as the oldest.
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
   * Applies one record, unless it is stale. All records have to be applied in log order before the
   * first input.
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
   * Ends the restore. Returns the keys whose last record is stale, as tombstones with the input
   * offset of the valid state, for `replacementOf`.
   */
  restored(): readonly ReadRecord[] {
    const stale = [...this.#stale].map(([key, position]) => ({ key, value: undefined, position }))
    this.#isRestored = true
    this.#removed.clear()
    this.#stale.clear()
    return stale
  }

  /**
   * Takes in a record that another process wrote, or for which this process got no acknowledgement.
   * No input of the record's user may be in progress. If the record's input is done here
   * (`isDone`), the state in memory stays: `taken` when the record agrees with it, otherwise
   * `stale`. If its input is not done, the record is applied as during a restore.
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
   * Returns the change that overwrites a stale record with the known state; `undefined` when
   * Hookline did not write its key.
   */
  replacementOf({ key, position = -1 }: ReadRecord): Change | undefined {
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

  /** Input offset of the known state of a key, `undefined` when there is none. */
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
 * another form, or the value does not belong to it.
 */
function aboutOf({ key, value }: ReadRecord): About | undefined {
  const about = parseMembershipKey(key)
  if (about === undefined || value === undefined) return about
  return ('userId' in about ? value.membership : value.mark) === null ? undefined : about
}

const isSame = (a: ReadRecord['value'], b: ReadRecord['value']): boolean =>
  JSON.stringify(plain(a)) === JSON.stringify(plain(b))

/** Returns the record with its fields in a fixed order. */
const plain = (value: ReadRecord['value']): unknown => {
  if (value === undefined) return null
  const state = fromMembershipRecord(value)
  return state === undefined ? fromWatermarkRecord(value) : toMembershipRecord(state)
}
