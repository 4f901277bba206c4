import type { Clock, Logger, LogProducer } from '../core/ports.ts'
import { durationMs, type EpochMs } from '../core/time.ts'
import { createPeriodicTask, type PeriodicTask } from './periodic-task.ts'

/**
 * A broker returns its time with each record that it stores. When the process has written no record
 * for this time, it writes one to learn the broker's time.
 */
const askEvery = durationMs(30_000)
/** Maximum wait for an answer. When it ends, `now` uses this process's clock. */
const answerLimit = durationMs(5_000)

interface Deps {
  readonly producer: LogProducer
  /** A compacted topic, in which a record without a value is a tombstone and is removed. */
  readonly topic: string
  readonly clock: Clock
  /** Returns when a broker last returned its time, in monotonic milliseconds. */
  readonly learnedAt: () => number
  readonly logger: Logger
}

export interface BrokerTime extends PeriodicTask {
  /**
   * Resolves with a broker's time; with `undefined` when the write of the record fails or takes
   * more than 5 s, or when the topic does not keep the broker's time.
   */
  ask(): Promise<EpochMs | undefined>
  /**
   * Resolves with a broker's time, or with this process's time when `ask` gets none. All processes
   * ask the leader of the same partition, so its times never decrease from call to call, in any
   * process, until another broker becomes the leader.
   */
  now(): Promise<EpochMs>
}

/**
 * A record without a value. Its key differs from all other keys of the topic: keys of dead letters
 * begin with a destination id, or with `-/` and a topic name; keys of deletions are JSON.
 */
const record = { key: Buffer.from('-/clock'), value: null, headers: {} }

/**
 * Keeps this process's clock aligned with the brokers' clock, also while the process writes
 * nothing.
 */
export function createBrokerTime({ producer, topic, clock, learnedAt, logger }: Deps): BrokerTime {
  let isAsking = false
  /**
   * Whether the topic keeps the producer's timestamps. Its acknowledgements then have no broker
   * time, so the process stops asking.
   */
  let isSilent = false

  function ask(): Promise<EpochMs | undefined> {
    const { promise, resolve } = Promise.withResolvers<EpochMs | undefined>()
    const cancel = clock.after(answerLimit, () => {
      logger.warn(
        { topic },
        "no broker reported its time within 5 s; the process continues from the last report, or with the machine's clock if there was none",
      )
      resolve(undefined)
    })
    isAsking = true
    producer.append(topic, record, (error, _offset, appended) => {
      isAsking = false
      isSilent = error === undefined && appended === undefined
      cancel()
      resolve(appended)
    })
    return promise
  }

  const isDue = (): boolean => !isAsking && !isSilent && clock.monotonic() - learnedAt() >= askEvery
  const task = createPeriodicTask({
    clock,
    firstAfter: askEvery,
    async turn() {
      if (isDue()) await ask()
      return askEvery
    },
  })
  return { ...task, ask, now: async () => (await ask()) ?? clock.now() }
}
