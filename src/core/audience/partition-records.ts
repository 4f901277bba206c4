import { Memberships } from './memberships.ts'
import {
  fromMarkRecord,
  fromMembershipRecord,
  parseMembershipKey,
  type ReadRecord,
  toMarkRecord,
  toMembershipRecord,
} from './record.ts'
import { type AudienceMark, noMark } from './sync.ts'
import type { Change } from './transition.ts'

/** `stale`: a later state is known and has to be written again. `unreadable`: somebody else wrote the record. */
export type Restored = 'taken' | 'stale' | 'unreadable'

type About = NonNullable<ReturnType<typeof parseMembershipKey>>

/**
 * The memberships and marks of one partition, as the records of the memberships topic give them. Each record has the position of the input
 * that it was made of. Of the records of one key the one with the highest position holds, wherever it is in the log: an earlier owner of
 * the partition may append its last states long after the partition became somebody else's.
 */
export class PartitionRecords {
  readonly members = new Memberships()
  readonly #marks = new Map<string, AudienceMark>()
  /** Positions of the tombstones read, until all records are read. */
  readonly #removed = new Map<string, number>()
  /** Keys whose last record is stale so far, with the position of what holds. */
  readonly #stale = new Map<string, number>()
  readonly #inputEnd: number
  #isRestored = false

  /** @param inputEnd end of the input partition at the start: a record from beyond it is of another log, and this one began anew. */
  constructor(inputEnd: number) {
    this.#inputEnd = inputEnd
  }

  markOf(audience: string): AudienceMark {
    return this.#marks.get(audience) ?? noMark
  }

  setMark(audience: string, mark: AudienceMark): void {
    this.#marks.set(audience, mark)
  }

  /** Takes one record; before the first input all of them in their order. */
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

  /** All records are read. Returns those keys whose last record is stale, as tombstones at the position that is known. */
  restored(): readonly ReadRecord[] {
    const stale = [...this.#stale].map(([key, position]) => ({ key, value: undefined, position }))
    this.#isRestored = true
    this.#removed.clear()
    this.#stale.clear()
    return stale
  }

  /**
   * Takes a record that appeared in the log without being acknowledged to this process, while nothing of its user is in progress. For an
   * input that is done here (`isDone`) the state in memory holds; the record of a later input is taken over, as at a restore.
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

  /** What holds in place of a stale record, to be written over it. */
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

  /** Undefined: nothing is known of the key. */
  #positionOf(key: string, about: About): number | undefined {
    if (!('userId' in about)) return this.#marks.get(about.audience)?.position
    return this.members.positionOf(about) ?? this.#removed.get(key)
  }

  #recordOf(about: About): ReadRecord['value'] {
    if (!('userId' in about)) return toMarkRecord(this.markOf(about.audience))
    const held = this.members.get(about)
    return held && toMembershipRecord(held)
  }

  #put(about: About, { key, value }: ReadRecord, position: number): void {
    if (!('userId' in about)) {
      const mark = value && fromMarkRecord(value)
      return this.setMark(about.audience, mark === undefined ? noMark : { ...mark, position })
    }
    const state = value && fromMembershipRecord(value)
    this.members.put(about, state && { ...state, position })
    if (state !== undefined) this.#removed.delete(key)
    else if (!this.#isRestored) this.#removed.set(key, position)
  }
}

/** Undefined: Hookline did not write the record. */
function aboutOf({ key, value }: ReadRecord): About | undefined {
  const about = parseMembershipKey(key)
  if (about === undefined || value === undefined) return about
  return ('userId' in about ? value.membership : value.mark) === null ? undefined : about
}

/** Whether two records say the same, read or made. */
const isSame = (a: ReadRecord['value'], b: ReadRecord['value']): boolean =>
  JSON.stringify(plain(a)) === JSON.stringify(plain(b))

/** With all fields in one order. */
const plain = (value: ReadRecord['value']): unknown => {
  if (value === undefined) return null
  const state = fromMembershipRecord(value)
  return state === undefined ? fromMarkRecord(value) : toMembershipRecord(state)
}
