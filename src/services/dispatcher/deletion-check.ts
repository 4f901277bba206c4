import { isRequested } from '../../core/deletion/marks.ts'
import type { Event } from '../../core/message/event.ts'
import type { Clock } from '../../core/ports.ts'
import { durationMs } from '../../core/units.ts'
import type { Marks } from '../deletion/marks.ts'
import type { Shard } from '../partitions/shard.ts'
import type { OpenRecord } from './delivery.ts'

/** How often a delete that is not confirmed is checked again. */
const checkEvery = durationMs(100)

interface Deps {
  readonly marks: Pick<Marks, 'get' | 'age'>
  readonly clock: Clock
  /** Decodes a record that waited behind a delete. */
  readonly decode: (open: OpenRecord) => void
  /** Starts what was enqueued since. */
  readonly pump: () => void
}

/** Later records of the same user, by the key of the delete that they wait behind. */
type Waiting = Map<string, OpenRecord[]>

/**
 * Checks that a delete was requested. A deletion writes its mark to the suppressions topic before its
 * delete messages to the events topic, and needs other rights in Kafka for that. So a delete without
 * a mark is forged, once everything is known that was written there before the delete was fetched:
 * half a second later at the most. Until then the delete waits, and later records of the same user in
 * its partition with it, so that their order holds. Everybody else's records go on.
 */
export class DeletionCheck {
  readonly #deps: Deps
  readonly #waiting = new WeakMap<Shard, Waiting>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** True: an unconfirmed delete of the same user precedes the record, which is decoded after it. */
  defers(open: OpenRecord): boolean {
    const behind = this.#waiting.get(open.shard)?.get(keyTextOf(open))
    behind?.push(open)
    return behind !== undefined
  }

  /** Calls `end` with whether the delete was requested: immediately, or when it is known. */
  check(open: OpenRecord, event: Event, end: (isRequested: boolean) => void): void {
    const { marks, clock, pump } = this.#deps
    const { shard } = open
    const { fetchedAt } = shard
    const isKnown = (): boolean => this.#isMarked(event) || clock.monotonic() - marks.age() >= fetchedAt
    if (isKnown()) return end(this.#isMarked(event))
    const behind = this.#hold(open)
    const look = (): void => {
      if (shard.revoked) return
      if (!isKnown()) return void clock.after(checkEvery, look)
      this.#waiting.get(shard)?.delete(keyTextOf(open))
      end(this.#isMarked(event))
      for (const next of behind) if (!this.defers(next)) this.#deps.decode(next)
      pump()
    }
    clock.after(checkEvery, look)
  }

  #isMarked({ message: { userId }, ...of }: Event): boolean {
    const known = userId === undefined ? undefined : this.#deps.marks.get(userId)
    return known !== undefined && isRequested(known, of)
  }

  #hold(open: OpenRecord): readonly OpenRecord[] {
    const behind: OpenRecord[] = []
    const { shard } = open
    const waiting: Waiting = this.#waiting.get(shard) ?? new Map()
    this.#waiting.set(shard, waiting.set(keyTextOf(open), behind))
    return behind
  }
}

const keyTextOf = ({ record: { key } }: OpenRecord): string => key?.toString('latin1') ?? ''
