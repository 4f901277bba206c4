import type { Metrics } from '../../core/metrics.ts'
import type { Clock, Logger, LogProducer, OutgoingRecord } from '../../core/ports.ts'
import { type DurationMs, durationMs } from '../../core/units.ts'
import type { Shard } from '../dispatcher/shard.ts'
import type { Gate } from './gate.ts'

/** Between two tries to write to a topic that does not take the record. */
const firstPause = durationMs(500)
const longestPause = durationMs(10_000)

interface Deps {
  readonly producer: LogProducer
  readonly gate: Gate
  readonly clock: Clock
  readonly metrics: Metrics
  readonly logger: Logger
}

export interface Writes {
  /**
   * Tries until all replicas have the record. Resolves with false when the partition that it is written for is not ours any more:
   * then its next owner writes it.
   */
  append(topic: string, record: OutgoingRecord, shard: Shard): Promise<boolean>
  /** Topics that did not take the last record written to them. */
  unwritableTopics(): readonly string[]
}

export function createWrites({ producer, gate, clock, metrics, logger }: Deps): Writes {
  /** By topic: how many records wait for it to become writable. */
  const failing = new Map<string, number>()

  const once = (topic: string, record: OutgoingRecord): Promise<Error | undefined> =>
    new Promise(resolve => producer.append(topic, record, resolve))

  function countFailing(topic: string, by: 1 | -1): void {
    const count = (failing.get(topic) ?? 0) + by
    if (count === 0) failing.delete(topic)
    else failing.set(topic, count)
  }

  async function again(topic: string, record: OutgoingRecord, shard: Shard, failure: Error): Promise<boolean> {
    countFailing(topic, 1)
    let error: Error | undefined = failure
    for (let pause = firstPause; error !== undefined; pause = longer(pause)) {
      metrics.produceFailures.inc({ topic })
      logger.error({ topic, error: error.message, retryInMs: pause }, 'record not written; its input waits')
      await new Promise<void>(resolve => clock.after(pause, resolve))
      if (!(await gate.toWrite(shard))) break
      error = await once(topic, record)
    }
    countFailing(topic, -1)
    return error === undefined
  }

  return {
    async append(topic, record, shard) {
      if (!(await gate.toWrite(shard))) return false
      const error = await once(topic, record)
      return error === undefined || again(topic, record, shard, error)
    },
    unwritableTopics: () => [...failing.keys()],
  }
}

const longer = (pause: DurationMs): DurationMs => durationMs(Math.min(pause * 2, longestPause))
