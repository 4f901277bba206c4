/*
 * Protocol between the bench and the client program. The program gets an `Order` as JSON in its
 * first argument, and prints a `Result` as JSON.
 */

/** Client library to measure. */
export type ClientName = 'hookline' | 'hookline to Kafka' | 'segment'

/**
 * The calls that the client program makes. After them the program waits until all messages are
 * sent. In an outage it does not wait, because there is no endpoint.
 */
export interface Work {
  readonly calls: number
  /** Calls per second. Undefined if the program makes calls as fast as the client accepts them. */
  readonly perSecond: number | undefined
  readonly isOutage: boolean
}

export interface Order {
  readonly client: ClientName
  readonly work: Work
  /** URL of the collector. */
  readonly url: string
  /** Settings of the client that writes directly to Kafka. */
  readonly kafka: { readonly brokers: readonly string[]; readonly registry: string; readonly topicPrefix: string }
  readonly sourceId: string
}

export interface Result {
  /** Number of calls, including the 2,000 of the warm-up. */
  readonly calls: number
  /** Wall time inside the calls, in microseconds per call. */
  readonly microsACall: number
  /**
   * CPU time of the whole process from the end of the warm-up until all messages are sent, in
   * microseconds per call.
   */
  readonly cpuMicrosAMessage: number
  readonly perSecond: number
  readonly peakMb: number
}
