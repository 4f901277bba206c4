import { Semaphore } from '../../core/collections/semaphore.ts'
import { parseDeadLetter } from '../../core/delivery/parse-dead-letter.ts'
import type { LogSession, WithLogSession } from '../../core/log-session.ts'
import type { Event } from '../../core/message/event.ts'
import { deadLetterDetails } from '../../core/operator/dead-letter-view.ts'
import type {
  MessageAndDeadLetterAnswer,
  MessageAndDeadLetterApi,
} from '../../core/operator/message-and-dead-letter-api.ts'
import { objectRefusal } from '../../core/operator/object-refusal.ts'
import { ReadBudget, type ReadLimits } from '../../core/operator/read-budget.ts'
import type { ReplayPreview } from '../../core/operator/replay-preview-of-dead-letter.ts'
import type { Clock, Logger, LogRecord } from '../../core/ports.ts'
import { durationMs } from '../../core/time.ts'
import { within } from '../../core/within-time-limit.ts'
import { decodeInTime } from './decode-event-in-time.ts'
import { isKafkaError } from './is-kafka-error.ts'
import { type LastFailures, readLastFailures } from './last-failures.ts'
import { readTimeline, type TimelineDeps } from './read-timeline.ts'
import { createDeadLetterReads } from './search-dead-letters-newest-first.ts'

interface Deps extends Omit<TimelineDeps, 'deadLetters'> {
  readonly sessions: WithLogSession
  /** Previews a replay of a dead letter. `event` is `undefined` when it cannot be decoded. */
  readonly previewReplay: (record: LogRecord, event: Event | undefined) => ReplayPreview
  readonly clock: Pick<Clock, 'monotonic' | 'after'>
  readonly logger: Logger
  readonly limits?: ReadLimits
}

/**
 * Limits of the reads of one request. The time (ms) is short, because the console must show its
 * first result within a second.
 */
const defaultLimits: ReadLimits = { records: 300_000, time: 600 }
/**
 * Maximum time of a request beyond its reads, in ms: the waits for other requests and for Kafka.
 */
const responseTime = 1_300
/** Maximum number of concurrent reads. Each has chunks of some MiB in memory. */
const maxConcurrent = 4

export interface ReadLog extends MessageAndDeadLetterApi {
  /** `undefined` when Kafka did not respond. */
  lastFailures(destination: string): Promise<LastFailures | undefined>
}

/** Reads messages and dead letters from Kafka for the operator API. */
export function createReadLog(deps: Deps): ReadLog {
  const { sessions, topics, codec, clock, logger, previewReplay, limits = defaultLimits } = deps
  const deadLetters = createDeadLetterReads({ topic: topics.deadLetter, codec })
  const reads = new Semaphore(maxConcurrent)
  const answerWithin = durationMs(limits.time + responseTime)

  /**
   * Calls `use` with a log session. Resolves with `undefined` when Kafka fails, or the time limit
   * ends first.
   */
  function read<T>(use: (session: LogSession, budget: ReadBudget) => Promise<T>): Promise<T | undefined> {
    return within(clock, answerWithin, readInTurn(use), () => undefined)
  }

  async function readInTurn<T>(use: (session: LogSession, budget: ReadBudget) => Promise<T>): Promise<T | undefined> {
    const latest = clock.monotonic() + responseTime
    await reads.acquire()
    try {
      // Reads that cannot end in time would only delay later requests.
      if (clock.monotonic() >= latest) return undefined
      return await sessions(session => use(session, new ReadBudget(limits, () => clock.monotonic())))
    } catch (error) {
      if (!isKafkaError(error)) throw error
      logger.warn(
        { code: error.code, error: error.message },
        'hookline cannot read topics of Kafka for a request to the operator API (see "error"); the client has to send the request again',
      )
      return undefined
    } finally {
      reads.release()
    }
  }

  async function answer<T>(
    use: (session: LogSession, budget: ReadBudget) => Promise<T>,
  ): Promise<MessageAndDeadLetterAnswer<T>> {
    const body = await read(use)
    return body === undefined ? unavailable : { kind: 'answered', body }
  }

  /**
   * The event of a dead letter; `undefined` when it cannot be decoded before `until` (monotonic).
   */
  async function eventOf(record: LogRecord, until: number): Promise<Event | undefined> {
    const { value, timestamp } = record
    if (value === null) return undefined
    const timeLeft = durationMs(Math.max(0, until - clock.monotonic()))
    const receivedAt = parseDeadLetter(record).origin?.timestamp ?? timestamp
    const decoded = await decodeInTime({ codec, clock }, value, receivedAt, timeLeft)
    return decoded?.kind === 'event' ? decoded.event : undefined
  }

  return {
    message: query => answer((session, budget) => readTimeline(session, { ...deps, deadLetters }, query, budget)),
    deadLetters: query => answer((session, budget) => deadLetters.page(session, query, budget)),
    async deadLetter(key, includesEvent) {
      const until = clock.monotonic() + answerWithin
      const found = await read((session, budget) => deadLetters.find(session, key, budget))
      if (found === undefined) return unavailable
      const { record, isComplete } = found
      if (record === undefined) return isComplete ? noDeadLetter : notReached
      const event = await eventOf(record, until)
      const replay = includesEvent ? previewReplay(record, event) : undefined
      return { kind: 'answered', body: deadLetterDetails(record, event, replay) }
    },
    lastFailures: destination =>
      read((session, budget) => readLastFailures(session, deps, destination, budget.share(0.7))),
  }
}

const unavailable = objectRefusal(
  'unavailable',
  'Hookline could not read the records from Kafka: send the request again later.',
)
const noDeadLetter = objectRefusal(
  'not_found',
  'No dead letter has this key. Either the dead letter was replayed, or retention has removed it, or the key is wrong.',
)
const notReached = objectRefusal(
  'unavailable',
  'The search for the dead letter ended at its limit of records or time. Send the request again to continue the search.',
)
