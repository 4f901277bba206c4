/** The number of messages in each state: `queued = sent + failed + dropped + waiting`. */
export interface Counts {
  /** All messages that calls have added to the queue. */
  readonly queued: number
  readonly sent: number
  readonly failed: number
  /** Messages dropped to make room for newer ones, with `onFull: 'drop-oldest'`. */
  readonly dropped: number
  /** Messages in the queue, or in the batch that is being sent. */
  readonly waiting: number
}
