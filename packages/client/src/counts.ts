/** The number of messages in each state: `queued = sent + failed + dropped + waiting`. */
export interface Counts {
  /** Accepted by a call. */
  readonly queued: number
  readonly sent: number
  readonly failed: number
  /** Dropped for newer messages, with `onFull: 'drop-oldest'`. */
  readonly dropped: number
  /** In the queue, or in the batch that is being sent. */
  readonly waiting: number
}
