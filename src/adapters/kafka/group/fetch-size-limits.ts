import { flowLimits } from '../../../core/flow/flow-control-constants.ts'

/** Size limits of one fetch, in bytes. kafkajs blocks the event loop while it decodes a fetch. */
export interface FetchSize {
  /**
   * Maximum bytes of one partition (Kafka's `max.partition.fetch.bytes`). If a partition is paused
   * during a fetch, these bytes must be fetched again later.
   */
  readonly perPartition: number
  /** Kafka's `fetch.max.bytes`. */
  readonly total: number
}

/** The fetch size for all topics except the retry topics. */
export const defaultFetchSize: FetchSize = flowLimits.fetch.usual

/**
 * The fetch size for retry topics: about 200 records per partition and 800 in total. It is small,
 * so that a backlog of due retries does not delay new events for long.
 */
export const smallFetchSize: FetchSize = flowLimits.fetch.retries
