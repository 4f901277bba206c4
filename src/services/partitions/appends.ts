import { flowLimits } from '../../core/flow/limits.ts'
import type { Metrics } from '../../core/metrics/metrics.ts'
import type { Clock, Logger, LogProducer, OutgoingRecord } from '../../core/ports.ts'
import { durationMs } from '../../core/units.ts'
import type { PartitionProcessor } from './partition-processor.ts'

const { firstRetryMs, maxRetryMs } = flowLimits.append

/** Kafka's codes for a record that is larger than its topic takes: it is refused again however often it is sent. */
const tooLargeCodes: ReadonlySet<string> = new Set(['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE'])

const isTooLarge = (error: Error): boolean => 'code' in error && tooLargeCodes.has(String(error.code))

export interface AppendDeps {
  readonly producer: LogProducer
  readonly clock: Clock
  readonly metrics: Metrics
  readonly logger: Logger
  /** When a record may be appended for a partition. Undefined: as long as this process owns it. */
  readonly permit: WritePermit | undefined
}

export interface WritePermit {
  /** Whether it may be now: asked once more when the record is sent. */
  mayWrite(processor: PartitionProcessor): boolean
  /** Resolves when it may be; false: the partition is not ours any more. */
  toWrite(processor: PartitionProcessor): Promise<boolean>
}

/** What is written because of a record of a partition, before that record is done. */
export interface Appends {
  /**
   * Tries until the topic takes the record, or until the partition it is written for is no longer ours: then its next owner
   * writes it, and `end` is told that it was not written here. A record that is too large for the topic is not tried again where
   * `tooLarge` is given: that is called in place of `end`, and writes something else.
   */
  append(
    topic: string,
    record: OutgoingRecord,
    of: PartitionProcessor,
    end: (written: boolean) => void,
    tooLarge?: (error: Error) => void,
  ): void
  /** Topics that did not take the last record written to them. */
  unwritableTopics(): readonly string[]
  /** Written and not acknowledged yet. */
  unacknowledged(): number
}

export function createAppends({ producer, clock, metrics, logger, permit }: AppendDeps): Appends {
  /** By topic: how many records wait for it to become writable. */
  const failing = new Map<string, number>()
  let unacknowledged = 0

  function append(
    topic: string,
    given: OutgoingRecord,
    of: PartitionProcessor,
    end: (written: boolean) => void,
    tooLarge?: (error: Error) => void,
  ): void {
    const record = permit === undefined ? given : { ...given, maySend: () => permit.mayWrite(of) }
    let isFailing = false
    const finish = (next: () => void): void => {
      unacknowledged--
      if (isFailing) countFailing(topic, -1)
      next()
      of.ended()
    }
    const write = (pauseMs: number): void => {
      if (of.revoked) return finish(() => end(false))
      producer.append(topic, record, error => {
        if (error === undefined) return finish(() => end(true))
        if (tooLarge !== undefined && isTooLarge(error)) return finish(() => tooLarge(error))
        // Held back, or as good as that.
        if (permit?.mayWrite(of) === false) return attempt(pauseMs)
        metrics.produceFailures.inc({ topic })
        logger.error({ topic, error: error.message, retryInMs: pauseMs }, 'record not written; its source offset waits')
        if (!isFailing) countFailing(topic, 1)
        isFailing = true
        clock.after(durationMs(pauseMs), () => attempt(Math.min(pauseMs * 2, maxRetryMs)))
      })
    }
    const attempt = (pauseMs: number): void => {
      if (permit === undefined) write(pauseMs)
      else void permit.toWrite(of).then(() => write(pauseMs))
    }
    unacknowledged++
    of.started()
    attempt(firstRetryMs)
  }

  function countFailing(topic: string, by: 1 | -1): void {
    const count = (failing.get(topic) ?? 0) + by
    if (count === 0) failing.delete(topic)
    else failing.set(topic, count)
  }

  return { append, unwritableTopics: () => [...failing.keys()], unacknowledged: () => unacknowledged }
}
