import { isRequested } from '../../core/deletion/suppressions.ts'
import { flowLimits } from '../../core/flow/limits.ts'
import type { Event } from '../../core/message/event.ts'
import type { Clock } from '../../core/ports.ts'
import type { SuppressionList } from '../deletion/suppression-list.ts'
import type { PartitionProcessor } from '../partitions/partition-processor.ts'
import type { AdmittedRecord } from './delivery.ts'

const { deletionCheckEvery: checkEvery } = flowLimits.admission

interface Deps {
  readonly marks: Pick<SuppressionList, 'get' | 'age'>
  readonly clock: Clock
  /** Decodes a record that waited behind a delete. */
  readonly decode: (open: AdmittedRecord) => void
  /** Starts what was enqueued since. */
  readonly dispatch: () => void
}

/** Later records of the same user, by the key of the delete that they wait behind. */
type Waiting = Map<string, AdmittedRecord[]>

/**
 * Checks that a delete was requested. A deletion writes its mark to the suppressions topic before its
 * delete messages to the events topic, and needs other rights in Kafka for that. So a delete without
 * a mark is forged, once everything is known that was written there before the delete was fetched:
 * half a second later at the most. Until then the delete waits, and later records of the same user in
 * its partition with it, so that their order holds. Everybody else's records go on.
 */
export class DeletionCheck {
  readonly #deps: Deps
  readonly #waiting = new WeakMap<PartitionProcessor, Waiting>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** True: an unconfirmed delete of the same user precedes the record, which is decoded after it. */
  defers(open: AdmittedRecord): boolean {
    const behind = this.#waiting.get(open.processor)?.get(keyTextOf(open))
    behind?.push(open)
    return behind !== undefined
  }

  /** Calls `end` with whether the delete was requested: immediately, or when it is known. */
  check(open: AdmittedRecord, event: Event, end: (isRequested: boolean) => void): void {
    const { marks, clock, dispatch } = this.#deps
    const { processor } = open
    const { fetchedAt } = processor
    const isKnown = (): boolean => this.#isMarked(event) || clock.monotonic() - marks.age() >= fetchedAt
    if (isKnown()) return end(this.#isMarked(event))
    const behind = this.#hold(open)
    const look = (): void => {
      if (processor.revoked) return
      if (!isKnown()) return void clock.after(checkEvery, look)
      this.#waiting.get(processor)?.delete(keyTextOf(open))
      end(this.#isMarked(event))
      for (const next of behind) if (!this.defers(next)) this.#deps.decode(next)
      dispatch()
    }
    clock.after(checkEvery, look)
  }

  #isMarked({ message: { userId }, ...of }: Event): boolean {
    const known = userId === undefined ? undefined : this.#deps.marks.get(userId)
    return known !== undefined && isRequested(known, of)
  }

  #hold(open: AdmittedRecord): readonly AdmittedRecord[] {
    const behind: AdmittedRecord[] = []
    const { processor } = open
    const waiting: Waiting = this.#waiting.get(processor) ?? new Map()
    this.#waiting.set(processor, waiting.set(keyTextOf(open), behind))
    return behind
  }
}

const keyTextOf = ({ record: { key } }: AdmittedRecord): string => key?.toString('latin1') ?? ''
