import { Fifo } from '../../core/collections/fifo.ts'
import { isConfirmedDelete } from '../../core/deletion/suppressions.ts'
import { flowLimits } from '../../core/flow/limits.ts'
import type { Event } from '../../core/message/event.ts'
import type { Clock } from '../../core/ports.ts'
import { includesAllBefore, type SuppressionList } from '../deletion/suppression-list.ts'
import type { PartitionProcessor } from '../partitions/partition-processor.ts'
import type { AdmittedRecord } from './admitted-record.ts'

const { deletionCheckEvery: checkEvery } = flowLimits.admission

interface Deps {
  readonly suppressions: Pick<SuppressionList, 'get' | 'age'>
  readonly clock: Clock
  readonly decode: (open: AdmittedRecord) => void
  readonly dispatch: () => void
}

/** The records that wait behind each delete of their user, by the key of the delete. */
type Waiting = Map<string, Fifo<AdmittedRecord>>

/**
 * Checks that a delete message belongs to a deletion. A deletion writes to the suppressions topic
 * before it writes its delete messages. A forger with write permission only for the events topic
 * cannot do that.
 *
 * The check is final once the suppression list has all records that were written before the delete
 * was fetched, at most about a second later. Until then, the delete and later records of the same
 * user in its partition wait.
 */
export class DeletionCheck {
  readonly #deps: Deps
  readonly #waiting = new WeakMap<PartitionProcessor, Waiting>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /**
   * Whether the record must wait for a delete of its user that is being checked. If so, adds it to
   * the waiting records.
   */
  defers(open: AdmittedRecord): boolean {
    const behind = this.#waiting.get(open.processor)?.get(keyTextOf(open))
    behind?.push(open)
    return behind !== undefined
  }

  /**
   * Checks a delete message, and calls `end` with the result, possibly before `check` returns. If
   * the partition is revoked earlier, `end` is not called, and the next owner checks the message.
   */
  check(open: AdmittedRecord, event: Event, end: (isConfirmedDelete: boolean) => void): void {
    const { suppressions, clock } = this.#deps
    const { processor } = open
    const { fetchedAt } = processor
    const isKnown = (): boolean => this.#isConfirmedDelete(event) || includesAllBefore(fetchedAt, suppressions, clock)
    if (isKnown()) return end(this.#isConfirmedDelete(event))
    const behind = this.#hold(open)
    const checkAgain = (): void => {
      if (processor.revoked) return
      if (processor.isEnding || !isKnown()) return void clock.after(checkEvery, checkAgain)
      end(this.#isConfirmedDelete(event))
      this.#decodeBehind(open, behind)
    }
    clock.after(checkEvery, checkAgain)
  }

  /**
   * Decodes the records that waited behind a delete, in order. The loop pauses while the process
   * stops, while the partition is being revoked, and while the partition is paused for a schema. It
   * ends at the next delete that must be checked: the remaining records wait behind that delete
   * (`#hold`).
   */
  #decodeBehind(checked: AdmittedRecord, behind: Fifo<AdmittedRecord>): void {
    const { clock, decode, dispatch } = this.#deps
    const { processor } = checked
    if (processor.revoked) return
    const waiting = this.#waitingIn(processor)
    const key = keyTextOf(checked)
    while (waiting.get(key) === behind && !processor.isEnding && !processor.isPausedFor('schema')) {
      const next = behind.shift()
      if (next === undefined) waiting.delete(key)
      else decode(next)
    }
    if (waiting.get(key) === behind) clock.after(checkEvery, () => this.#decodeBehind(checked, behind))
    dispatch()
  }

  #isConfirmedDelete({ message: { userId }, ...of }: Event): boolean {
    const suppressions = userId === undefined ? undefined : this.#deps.suppressions.get(userId)
    return suppressions !== undefined && isConfirmedDelete(suppressions, of)
  }

  /**
   * Returns a new list of the records that wait behind a delete. Waiting records of the same user
   * move to this list.
   */
  #hold(open: AdmittedRecord): Fifo<AdmittedRecord> {
    const waiting = this.#waitingIn(open.processor)
    const behind = new Fifo<AdmittedRecord>()
    for (const each of waiting.get(keyTextOf(open)) ?? []) behind.push(each)
    waiting.set(keyTextOf(open), behind)
    return behind
  }

  #waitingIn(processor: PartitionProcessor): Waiting {
    const waiting: Waiting = this.#waiting.get(processor) ?? new Map()
    this.#waiting.set(processor, waiting)
    return waiting
  }
}

const keyTextOf = ({ record: { key } }: AdmittedRecord): string => key?.toString('latin1') ?? ''
