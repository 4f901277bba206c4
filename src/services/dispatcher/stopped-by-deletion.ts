import type { Clock } from '../../core/ports.ts'
import type { SuppressionList } from '../deletion/suppression-list.ts'
import { type Delivery, receivedAtOf } from './delivery.ts'

export type DeletedUsers = Pick<SuppressionList, 'size' | 'stops' | 'isCurrent'>

interface Deps {
  readonly suppressions: DeletedUsers
  readonly clock: Pick<Clock, 'now'>
}

/**
 * Returns why a deletion of the user stops the delivery; `undefined` if none does. Call it before
 * every attempt, because the user may be deleted between two attempts.
 */
export function stoppedByDeletion(
  delivery: Delivery,
  { suppressions, clock }: Deps,
): ReturnType<DeletedUsers['stops']> {
  if (suppressions.size === 0) return undefined
  const { message, sourceId } = delivery.event
  const { userId, type } = message
  return suppressions.stops({ userId, sourceId, receivedAt: receivedAtOf(delivery), type }, clock.now())
}
