import { rejectionCodes } from '../message/message.ts'
import type { EpochMs } from '../time.ts'
import { type DeadLetterReason, refusedOutcomes, retryableOutcomes } from './outcomes-reasons-and-classification.ts'
import { type DeadLetter, noDestination } from './parse-dead-letter.ts'

/** The values that the `outcomes` of a dead letter can have. */
export const deadLetterOutcomes = [...retryableOutcomes, ...refusedOutcomes, ...rejectionCodes] as const
export type DeadLetterOutcome = (typeof deadLetterOutcomes)[number]

/** Selects dead letters. A dead letter matches when it meets every condition that is given. */
export interface DeadLetterFilter {
  /**
   * The id of a destination. `noDestination` selects dead letters of events that never became a
   * delivery.
   */
  readonly destination?: string | undefined
  readonly reason?: DeadLetterReason | undefined
  /**
   * Selects dead letters in which a webhook has this last outcome, or an invalid message has this
   * rejection code.
   */
  readonly outcome?: DeadLetterOutcome | undefined
  /** Selects what was dead-lettered at this time or later. */
  readonly since?: EpochMs | undefined
  /** Selects what was dead-lettered before this time. */
  readonly until?: EpochMs | undefined
  /**
   * The id of a message. Without `destination`, it selects the dead letters of the message at all
   * destinations.
   */
  readonly messageId?: string | undefined
}

export function matches(deadLetter: DeadLetter, filter: DeadLetterFilter): boolean {
  const { destination, reason, outcome, since, until, messageId } = filter
  return (
    (destination === undefined || destination === (deadLetter.destination ?? noDestination)) &&
    (reason === undefined || reason === deadLetter.reason) &&
    (outcome === undefined || deadLetter.outcomes.includes(outcome)) &&
    (since === undefined || deadLetter.at >= since) &&
    (until === undefined || deadLetter.at < until) &&
    (messageId === undefined || messageId === deadLetter.messageId)
  )
}
