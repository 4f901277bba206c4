/* Protocol between the bench and the client program: one line of JSON in each direction. */

/** Client library to measure. */
export type ClientName = 'hookline' | 'hookline to Kafka' | 'segment'

/**
 * Number and rate of the calls. After them the program waits until all messages are sent, unless
 * there is no endpoint.
 */
export interface Work {
  readonly calls: number
  /** Undefined means as fast as the client accepts them. */
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
  /** Number of accepted calls. */
  readonly calls: number
  /** Wall time inside the calls, in microseconds per call. */
  readonly microsACall: number
  /** CPU time of the whole process until everything was sent, in microseconds per message. */
  readonly cpuMicrosAMessage: number
  readonly perSecond: number
  readonly peakMb: number
}
