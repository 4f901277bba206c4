import { rejectionCodes } from '../message/message-rejection.ts'
import type { EpochMs } from '../time.ts'
import { type DeadLetterReason, refusedOutcomes, retryableOutcomes } from './outcomes-reasons-and-classification.ts'
import { type DeadLetter, noDestination } from './parse-dead-letter.ts'

/** The values that the `outcomes` of a dead letter can have. */
export const deadLetterOutcomes = [...retryableOutcomes, ...refusedOutcomes, ...rejectionCodes] as const
export type DeadLetterOutcome = (typeof deadLetterOutcomes)[number]

/** Selects dead letters that meet every given condition. */
export interface DeadLetterFilter {
  /** `noDestination` selects dead letters of events that never became a delivery. */
  readonly destination?: string | undefined
  readonly reason?: DeadLetterReason | undefined
  /** The last outcome of a webhook, or the rejection code of an invalid message. */
  readonly outcome?: DeadLetterOutcome | undefined
  readonly since?: EpochMs | undefined
  /** Selects deliveries and events that were dead-lettered before this time. */
  readonly until?: EpochMs | undefined
  /** Selects the dead letters of one message, at all destinations unless `destination` is set. */
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
