/*
 * The client program gets an `Order` as JSON in its first argument, and prints a `Result` as JSON.
 */

export type ClientName = 'hookline' | 'hookline to Kafka' | 'segment'

/**
 * The calls of the client program. After them, it waits until all messages are sent, except in an
 * outage.
 */
export interface Work {
  readonly calls: number
  /** Undefined: as fast as possible. */
  readonly perSecond: number | undefined
  readonly isOutage: boolean
}

export interface Order {
  readonly client: ClientName
  readonly work: Work
  readonly url: string
  readonly kafka: { readonly brokers: readonly string[]; readonly registry: string; readonly topicPrefix: string }
  readonly sourceId: string
}

export interface Result {
  /** Includes the 2,000 calls of the warm-up. */
  readonly calls: number
  /** Wall time inside a call, in µs. */
  readonly microsACall: number
  /**
   * CPU time of the process per call, in µs, from the end of the warm-up until all messages are
   * sent.
   */
  readonly cpuMicrosAMessage: number
  readonly perSecond: number
  readonly peakMb: number
}
