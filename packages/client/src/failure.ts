import type { JsonObject } from '../../../src/core/message/json.ts'
import type { Entry } from './queue.ts'

/** Why it did not work: a short code for programs (`http_503`, `ECONNREFUSED`) and a sentence for people. */
export interface Trouble {
  readonly code: string
  readonly detail: string
}

/**
 * Why messages will not be sent any more:
 * rejected           the endpoint took the batch, but not this message
 * refused            a final answer, such as 400 or 401
 * too_large          413 for a batch of one message
 * retries_exhausted  the last retry failed too
 * queue_full         dropped for newer ones (`onFull: 'drop-oldest'`)
 * out_of_time        `close({ timeoutMs })` or the end of the process came first
 */
export type FailureReason = 'rejected' | 'refused' | 'too_large' | 'retries_exhausted' | 'queue_full' | 'out_of_time'

/** Messages that were not delivered. After `retries_exhausted` and `out_of_time` it may be that they arrived all the same. */
export interface Failure {
  readonly reason: FailureReason
  /** `http_401`, `ECONNREFUSED`, or the endpoint's own code for a rejected message. */
  readonly code: string
  /** One sentence. */
  readonly detail: string
  readonly messageIds: readonly string[]
  /** The messages as they were queued, fit to be kept and sent again. */
  readonly messages: readonly JsonObject[]
}

export function failureOf(reason: FailureReason, { code, detail }: Trouble, entries: readonly Entry[]): Failure {
  return {
    reason,
    code,
    detail,
    messageIds: entries.map(entry => entry.messageId),
    // Read again only when somebody looks.
    get messages() {
      return entries.map(entry => JSON.parse(entry.text) as JsonObject)
    },
  }
}
