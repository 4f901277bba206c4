/* What a client is measured at, and what came of it: a line of JSON each way between the bench and the program. */

/** Whose library makes the calls. */
export type ClientName = 'hookline' | 'hookline to Kafka' | 'segment'

/** So many calls, and then, unless nobody can be reached anyway, until all is sent. */
export interface Work {
  readonly calls: number
  /** Undefined: as fast as they are taken. */
  readonly perSecond: number | undefined
  readonly isOutage: boolean
}

export interface Order {
  readonly client: ClientName
  readonly work: Work
  /** Of the collector. */
  readonly url: string
  /** For the transport to Kafka. */
  readonly kafka: { readonly brokers: readonly string[]; readonly registry: string; readonly topicPrefix: string }
  readonly sourceId: string
}

export interface Result {
  /** Calls that were taken. */
  readonly calls: number
  /** Of the clock, inside the calls. */
  readonly microsACall: number
  /** Of CPU, for all that the process did until everything was sent. */
  readonly cpuMicrosAMessage: number
  readonly perSecond: number
  readonly peakMb: number
}
