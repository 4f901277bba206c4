import type { OutcomeInput } from '../../core/audience/input.ts'
import { valueIn } from '../../core/audience/transition.ts'
import type { DeletionOutcome } from '../../core/deletion/deletion-status.ts'
import type { DeadLetterReason, DropReason } from '../../core/delivery/outcome.ts'
import type { EventHead } from '../../core/message/event.ts'

/** How a delivery ended, for good. */
export type DeliveryEnd = 'delivered' | DeadLetterReason | DropReason

/** Whom the end of a delivery has to be told, and what. */
export type Report =
  | { readonly kind: 'audience'; readonly input: OutcomeInput }
  | { readonly kind: 'deletion'; readonly outcome: DeletionOutcome }

/**
 * The report that has to be acknowledged before an event counts as done; undefined for events that SDKs sent. Every end is reported, drops
 * included: what is not heard of is waited for.
 */
export function reportOf(
  { message, origin, sourceId }: EventHead,
  destination: string,
  end: DeliveryEnd,
): Report | undefined {
  const { userId } = message
  if (origin === undefined || userId === undefined) return undefined
  const result = end === 'delivered' ? 'delivered' : 'undelivered'
  if (origin.kind === 'deletion') {
    const reason = end === 'delivered' ? undefined : end
    return { kind: 'deletion', outcome: { request: origin.id, source: sourceId, destination, userId, result, reason } }
  }
  const { id: audience, version = 0 } = origin
  const value = valueIn(message.traits)
  return { kind: 'audience', input: { kind: 'outcome', audience, userId, destination, version, value, result } }
}
