import type { FailureCause } from './failure.ts'
import type { Entry } from './message-queue.ts'

/** The messages of one request. The id and the messages are the same in every attempt. */
export interface Batch {
  readonly id: string
  readonly messages: readonly Entry[]
}

/** A message of a batch that was not stored. */
export interface RejectedMessage {
  /** The position of the message in the batch, from 0. */
  readonly index: number
  /**
   * The reason to report, a `FailureReason`. `refused`: Kafka refused this message, and no message
   * of the batch is stored. Absent means `rejected`.
   */
  readonly reason?: 'refused'
  readonly code: string
  readonly detail: string
}

/** The result of one attempt. */
export type SendResult =
  /** All messages except the rejected ones are stored. */
  | { readonly kind: 'taken'; readonly rejected: readonly RejectedMessage[] }
  /** A temporary failure; a retry may succeed. */
  | { readonly kind: 'retry'; readonly trouble: FailureCause; readonly retryAfterMs: number | undefined }
  /** The batch is too large; smaller batches may succeed. */
  | { readonly kind: 'too_large'; readonly trouble: FailureCause }
  /** A permanent failure. */
  | { readonly kind: 'refused'; readonly trouble: FailureCause }

/** The part of `AbortSignal` that transports use, so that these types need no DOM or Node types. */
export interface StopSignal {
  readonly aborted: boolean
  readonly reason: unknown
  addEventListener(type: 'abort', listener: () => void): void
  removeEventListener(type: 'abort', listener: () => void): void
}

/** Sends batches to a collector, or to Kafka. */
export interface Transport {
  /** Bytes of a request body besides the messages and the commas between them. */
  readonly envelopeBytes: number
  /**
   * Makes one attempt. `retry` is 0 for the first attempt. When `signal` is aborted, the attempt
   * ends early, and the client ignores its result.
   */
  send(batch: Batch, retry: number, signal: StopSignal): Promise<SendResult>
  /** Closes connections after the last attempt. It may be called more than once. */
  close?(): Promise<void>
}
