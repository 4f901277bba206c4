import type { Trouble } from './failure.ts'
import type { Entry } from './queue.ts'

/** Messages that go together. Its id and its messages are the same on every try. */
export interface Batch {
  readonly id: string
  readonly messages: readonly Entry[]
}

/** One message that was not taken although its batch was. */
export interface RejectedMessage {
  /** Its position in the batch. */
  readonly index: number
  readonly code: string
  readonly detail: string
}

/** What one try came to. */
export type SendResult =
  /** All but the rejected ones are safe. */
  | { readonly kind: 'taken'; readonly rejected: readonly RejectedMessage[] }
  /** May work later. */
  | { readonly kind: 'retry'; readonly trouble: Trouble; readonly retryAfterMs: number | undefined }
  /** May work in smaller pieces. */
  | { readonly kind: 'too_large'; readonly trouble: Trouble }
  /** Will never work. */
  | { readonly kind: 'refused'; readonly trouble: Trouble }

/** As much of an `AbortSignal` as it takes: who uses the types of this package need have no others. */
export interface StopSignal {
  readonly aborted: boolean
  readonly reason: unknown
  addEventListener(type: 'abort', listener: () => void): void
  removeEventListener(type: 'abort', listener: () => void): void
}

/** The way out of the queue. */
export interface Transport {
  /** Bytes of a request that are not messages or the commas between them. */
  readonly envelopeBytes: number
  /** One try. `retry` is 0 for the first; the signal ends it early. */
  send(batch: Batch, retry: number, signal: StopSignal): Promise<SendResult>
  /** Ends what it keeps open, called when nothing more will be sent; may be called again. */
  close?(): Promise<void>
}
