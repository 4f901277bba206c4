import { valueIn } from '../../core/audience/identify-message.ts'
import type { OutcomeInput } from '../../core/audience/input.ts'
import type { DeletionOutcome } from '../../core/deletion/deletion-record-and-status.ts'
import type { DeadLetterReason, DropReason } from '../../core/delivery/outcomes-reasons-and-classification.ts'
import type { EventHead } from '../../core/message/event.ts'

/** The final result of a delivery. */
export type DeliveryResult = 'delivered' | DeadLetterReason | DropReason

/** A delivery's result, for the audiences service or for the status of a deletion. */
export type OriginReport =
  | { readonly kind: 'audience'; readonly input: OutcomeInput }
  | { readonly kind: 'deletion'; readonly outcome: DeletionOutcome }

/**
 * The report of a delivery's result; `undefined` for events from SDKs. Store the report before the
 * event's offset is committed: otherwise, a crash after the commit could lose the report.
 */
export function reportOf(
  { message, origin, sourceId }: EventHead,
  destination: string,
  end: DeliveryResult,
): OriginReport | undefined {
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
