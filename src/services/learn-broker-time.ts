import type { Clock, Logger, LogProducer } from '../core/ports.ts'
import { durationMs, type EpochMs } from '../core/time.ts'
import { createPeriodicTask, type PeriodicTask } from './periodic-task.ts'

/**
 * After this time without a stored record, the process writes one, because brokers return their
 * time with stored records.
 */
const askEvery = durationMs(30_000)
/** Maximum wait for a broker's time. After it, `now` returns the time of this process. */
const answerLimit = durationMs(5_000)

interface Deps {
  readonly producer: LogProducer
  /** The compacted topic to which the process writes a record to learn a broker's time. */
  readonly topic: string
  readonly clock: Clock
  /** When a broker last returned its time, in monotonic milliseconds. */
  readonly learnedAt: () => number
  readonly logger: Logger
}

export interface BrokerTime extends PeriodicTask {
  /**
   * Writes a record, and resolves with the broker's time; `undefined` after a failure, or if the
   * topic keeps the producers' timestamps.
   */
  ask(): Promise<EpochMs | undefined>
  /**
   * Resolves with the broker's time, or with this process's time if `ask` gets none. All processes
   * write to the same partition, so their times come from one clock: the clock of the partition's
   * leader.
   */
  now(): Promise<EpochMs>
}

/** A tombstone with a key that no other record of the topic has. */
const record = { key: Buffer.from('-/clock'), value: null, headers: {} }

/**
 * Keeps this process's clock aligned with the brokers' clock while the process writes no records.
 */
export function createBrokerTime({ producer, topic, clock, learnedAt, logger }: Deps): BrokerTime {
  let isAsking = false
  /**
   * Whether the topic keeps the producer's timestamps (`CreateTime`). Its acknowledgements then
   * have no broker time.
   */
  let keepsProducerTimestamps = false

  function ask(): Promise<EpochMs | undefined> {
    const { promise, resolve } = Promise.withResolvers<EpochMs | undefined>()
    const cancel = clock.after(answerLimit, () => {
      logger.warn(
        { topic },
        "no broker reported its time within 5 s, so this process keeps its current estimate of the brokers' time; if this line repeats, check Kafka with: hookline doctor",
      )
      resolve(undefined)
    })
    isAsking = true
    producer.append(topic, record, (error, _offset, appendedAt) => {
      isAsking = false
      keepsProducerTimestamps = error === undefined && appendedAt === undefined
      cancel()
      resolve(appendedAt)
    })
    return promise
  }

  const isDue = (): boolean => !isAsking && !keepsProducerTimestamps && clock.monotonic() - learnedAt() >= askEvery
  const task = createPeriodicTask({
    clock,
    firstRunAfter: askEvery,
    async run() {
      if (isDue()) await ask()
      return askEvery
    },
  })
  return { ...task, ask, now: async () => (await ask()) ?? clock.now() }
}
