import { Fifo } from '../../core/collections/fifo.ts'
import { isConfirmedDelete } from '../../core/deletion/suppressions.ts'
import { flowLimits } from '../../core/flow/flow-control-constants.ts'
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

/** The records that wait for the check of their user's delete message, by record key. */
type Waiting = Map<string, Fifo<AdmittedRecord>>

/**
 * Detects forged delete messages: those without a suppression. Hookline stores a suppression before
 * each delete message, in a topic to which a forger may have no write permission. During the check,
 * later records of the user wait.
 */
export class DeletionCheck {
  readonly #deps: Deps
  readonly #waiting = new WeakMap<PartitionProcessor, Waiting>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /**
   * Queues the record if a delete of its user is being checked: the record then waits behind the
   * delete. Returns false if no delete is being checked.
   */
  queueBehindDelete(open: AdmittedRecord): boolean {
    const behind = this.#waiting.get(open.processor)?.get(keyTextOf(open))
    behind?.push(open)
    return behind !== undefined
  }

  /**
   * Checks a delete message. Calls `end` with the result, possibly before `check` returns, but
   * never after the partition is revoked.
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
   * Decodes the records that waited behind a delete, in order. If one of them is a delete that must
   * be checked too, the records after it wait again.
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
   * Creates the list of records that wait behind a delete. Records of the user that already wait
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
