/** What became of the messages; always `queued = sent + failed + dropped + waiting`. */
export interface Counts {
  /** Taken by a call. */
  readonly queued: number
  readonly sent: number
  readonly failed: number
  /** Given up for newer ones. */
  readonly dropped: number
  /** In the queue or under way. */
  readonly waiting: number
}
