/**
 * The deliveries of one destination by result, for events that were written to Kafka in one hour.
 */
export interface LedgerRow {
  readonly hour: string
  readonly destination: string
  readonly delivered: number
  readonly deadLettered: number
  readonly dropped: number
  readonly waiting: number
}

/** The numbers of deliveries by hour and destination. */
export interface Ledger {
  /** The beginning of the first hour, and the end of the last hour. */
  readonly since: string
  readonly until: string
  /** Set when the operator service could not read all numbers. */
  readonly partial?: boolean
  /** Set when the hours before this time are incomplete. */
  readonly exactSince?: string
  readonly rows: readonly LedgerRow[]
}
