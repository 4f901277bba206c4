import type { Clock, Logger, LogProducer } from '../core/ports.ts'
import { type DurationMs, durationMs, type EpochMs } from '../core/units.ts'
import { createPeriodicTask, type PeriodicTask } from './periodic-task.ts'

/** Brokers tell their time with each record that they store. Where nothing is written for this long it is asked for. */
const askEvery = durationMs(30_000)
/** A process starts without the answer when it takes longer: by its machine's clock. */
const firstAnswerLimit = durationMs(5_000)

interface Deps {
  readonly producer: LogProducer
  /** Takes records without a value: a compacted one, where no key is this one's. */
  readonly topic: string
  readonly clock: Clock
  /** When a broker last told its time, in monotonic milliseconds. */
  readonly learnedAt: () => number
  readonly logger: Logger
}

export interface BrokerTime extends PeriodicTask {
  /** Resolves with what a broker says; undefined: none does, or it takes too long to wait for. */
  ask(): Promise<EpochMs | undefined>
  /**
   * The same, or this process's own time. As long as one broker leads the partition of the record, what
   * is asked for later is later, wherever it is asked for.
   */
  now(): Promise<EpochMs>
}

/** No dead letter has this key: those begin with the destination's id, or `-/` and a topic. And it is not JSON, as those of deletions. */
const record = { key: Buffer.from('-/clock'), value: null, headers: {} }

/** Keeps the time of this process that of the brokers, also while it writes nothing. */
export function createBrokerTime({ producer, topic, clock, learnedAt, logger }: Deps): BrokerTime {
  let isAsking = false
  /** The topic keeps the producer's time. */
  let isSilent = false

  function ask(): Promise<EpochMs | undefined> {
    const { promise, resolve } = Promise.withResolvers<EpochMs | undefined>()
    const cancel = clock.after(firstAnswerLimit, () => {
      logger.warn({ topic }, "no broker has told its time: this machine's clock is used until one does")
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
  const chore = createPeriodicTask({
    clock,
    firstAfter: askEvery,
    async turn() {
      if (isDue()) await ask()
      return askEvery
    },
  })
  return { ...chore, ask, now: async () => (await ask()) ?? clock.now() }
}

const lookEvery = durationMs(10_000)
/** A clock that is made faster or slower meanwhile is not told of again. */
const furtherSeconds = 10

interface ClockWatchDeps {
  readonly clock: Clock
  /** How far the machine's clock is ahead of what `clock` goes by, in milliseconds; 0 where it is followed. */
  readonly offset: () => number
  readonly logger: Logger
}

/** Tells that the machine's clock differs from the time that the process goes by, and when it no longer does. */
export function createClockWatch({ clock, offset, logger }: ClockWatchDeps): PeriodicTask {
  let told = 0

  function turn(): DurationMs {
    const seconds = Math.round(offset() / 1_000)
    if (seconds === 0 && told !== 0) {
      logger.info({}, "the machine's clock agrees again with the brokers', by which this process goes")
      told = 0
    } else if (seconds !== 0 && (told === 0 || Math.abs(seconds - told) > furtherSeconds)) {
      logger.warn(
        { seconds },
        "the machine's clock is off by that from the brokers', by which this process goes: check its time service",
      )
      told = seconds
    }
    return lookEvery
  }

  return createPeriodicTask({ clock, firstAfter: lookEvery, turn })
}
