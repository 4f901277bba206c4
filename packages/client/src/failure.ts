import type { JsonObject } from '../../../src/core/message/json.ts'
import type { Entry } from './message-queue.ts'

/** The cause of a failed attempt: a code for programs (`http_503`) and a sentence for people. */
export interface FailureCause {
  readonly code: string
  readonly detail: string
}

/**
 * Why messages were not delivered:
 * rejected           the batch was accepted, but not this message
 * refused            a response that is not retried, for example 401
 * too_large          413 for a batch of one message
 * retries_exhausted  the last allowed attempt failed
 * queue_full         dropped for newer messages (`onFull: 'drop-oldest'`)
 * out_of_time        the time limit of `close` or of the process exit was reached
 */
export type FailureReason = 'rejected' | 'refused' | 'too_large' | 'retries_exhausted' | 'queue_full' | 'out_of_time'

/**
 * Messages that were not delivered. With `retries_exhausted` and `out_of_time`, they may have
 * arrived nevertheless: perhaps only the response was lost or late.
 */
export interface Failure {
  readonly reason: FailureReason
  /** The cause: `http_401`, `ECONNREFUSED`, or the collector's code for a rejected message. */
  readonly code: string
  /** The cause, in one sentence. */
  readonly detail: string
  readonly messageIds: readonly string[]
  /** The undelivered messages, in the form in which they were queued. You can send them again. */
  readonly messages: readonly JsonObject[]
}

export function failureOf(reason: FailureReason, { code, detail }: FailureCause, entries: readonly Entry[]): Failure {
  return {
    reason,
    code,
    detail,
    messageIds: entries.map(entry => entry.messageId),
    // Parse the JSON only when the property is read.
    get messages() {
      return entries.map(entry => JSON.parse(entry.text) as JsonObject)
    },
  }
}
