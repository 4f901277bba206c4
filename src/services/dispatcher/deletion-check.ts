import { isRequested } from '../../core/deletion/marks.ts'
import type { Event } from '../../core/message/event.ts'
import type { Clock } from '../../core/ports.ts'
import { durationMs } from '../../core/units.ts'
import type { Marks } from '../deletion/marks.ts'
import type { OpenRecord } from './delivery.ts'

/** How often it is looked whether the suppressions topic has been read far enough. */
const lookAgainAfter = durationMs(100)

interface Deps {
  readonly marks: Pick<Marks, 'get' | 'age'>
  readonly clock: Clock
  /** Starts what was enqueued while the partition was paused. */
  readonly pump: () => void
}

/** Calls `end` with whether a delete was asked for: immediately, or when it is known. */
export type CheckDeletion = (open: OpenRecord, event: Event, end: (isRequested: boolean) => void) => void

/**
 * A deletion writes its mark to the suppressions topic before its delete messages to the events topic,
 * and needs other rights in Kafka for that. So a delete without a mark is forged, once everything is
 * known that was written there before the delete was fetched. Until then its partition is paused,
 * for half a second at the most: what follows in the same fetch is decided without a pause.
 */
export function createDeletionCheck({ marks, clock, pump }: Deps): CheckDeletion {
  const isMarked = ({ message: { userId }, ...of }: Event): boolean => {
    const known = userId === undefined ? undefined : marks.get(userId)
    return known !== undefined && isRequested(known, of)
  }

  return (open, event, end) => {
    const { shard } = open
    const { fetchedAt } = shard
    const isKnown = (): boolean => isMarked(event) || clock.monotonic() - marks.age() >= fetchedAt
    if (isKnown()) return end(isMarked(event))
    const look = (): void => {
      if (shard.revoked) return
      if (!isKnown()) return void clock.after(lookAgainAfter, look)
      end(isMarked(event))
      shard.unhold('deletion')
      pump()
    }
    shard.hold('deletion')
    clock.after(lookAgainAfter, look)
  }
}
