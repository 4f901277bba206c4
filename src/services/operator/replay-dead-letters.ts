import { Semaphore } from '../../core/collections/semaphore.ts'
import { type DeadLetterFilter, matches } from '../../core/delivery/dead-letter-filter.ts'
import { LiveDeadLetters } from '../../core/delivery/live-dead-letters.ts'
import type { DeadLetter } from '../../core/delivery/parse-dead-letter.ts'
import { type ReplayRefusal, replayedTombstone } from '../../core/delivery/replay-decision.ts'
import type { LogProducer, LogRecord, OutgoingRecord, TopicReader } from '../../core/ports.ts'
import { createYield } from '../../core/sleep-and-yield.ts'
import { isTooLarge } from '../is-record-too-large.ts'
import { createPacer } from '../pacer.ts'
import { createReplayPlans, type ReplayPlan, type ReplayTargetDeps } from './replay-plan-of-dead-letter.ts'
import { visitDeadLetters } from './visit-and-list-dead-letters.ts'

/**
 * Maximum dead letters in progress: enough for full Kafka batches. After a crash, at most this
 * number is replayed again.
 */
const maxInFlight = 256

interface Deps extends ReplayTargetDeps {
  readonly reader: TopicReader
  readonly producer: LogProducer
}

export interface ReplayOptions {
  readonly filter: DeadLetterFilter
  /** `undefined` when only Kafka limits the rate. */
  readonly perSecond?: number | undefined
  /** Whether the dead letters are only counted: nothing is written. */
  readonly dryRun?: boolean | undefined
  /** By partition: only dead letters before this offset are replayed. Absent: all are replayed. */
  readonly ends?: readonly number[] | undefined
  /** When aborted, no further dead letter is replayed; those in progress are finished. */
  readonly signal: AbortSignal
  /**
   * Called before the first replay with the number of dead letters (above 500,000, an estimate). If
   * it returns false, no dead letter is replayed.
   */
  readonly begin?: ((total: number) => boolean | Promise<boolean>) | undefined
  readonly onProgress?: ((progress: ReplayProgress) => void) | undefined
  /**
   * Called when a dead letter cannot be replayed. If it resolves with true, the dead letter is
   * checked again.
   */
  readonly shouldCheckAgain?: ((refusal: ReplayRefusal) => Promise<boolean>) | undefined
}

export interface ReplayProgress {
  /** Number of visited dead letters, selected or not. */
  readonly seen: number
  readonly replayed: number
  /** In a dry run, the number of selected dead letters that can be replayed; otherwise 0. */
  readonly replayable: number
  readonly refused: number
}

/** The selected dead letters with the same destination, reason, and target topic or refusal. */
export interface ReplayRow {
  readonly destination: string | undefined
  readonly reason: string
  readonly target: { readonly topic: string } | { readonly refusal: ReplayRefusal }
  readonly count: number
}

export interface ReplayReport {
  /**
   * Number of dead letters in the topic; `undefined` if the replay ended before they were counted.
   * Unless `end` is `done`, a number above 500,000 can be an estimate.
   */
  readonly total: number | undefined
  readonly rows: readonly ReplayRow[]
  readonly replayed: number
  /**
   * Number of dead letters that were replayed, but have no tombstone: the next replay repeats them.
   */
  readonly unmarked: number
  /** The destinations of all dead letters in the topic, whether selected or not. */
  readonly destinations: ReadonlySet<string>
  readonly end: ReplayEnd
}

export type ReplayEnd =
  | { readonly kind: 'done' }
  /** `begin` returned false, so nothing was replayed. */
  | { readonly kind: 'declined' }
  | { readonly kind: 'interrupted' }
  /** Kafka did not store a record, or the topic or the schema registry cannot be read. */
  | { readonly kind: 'failed'; readonly error: unknown }

/**
 * Replays the selected dead letters. A dead letter gets its tombstone only after Kafka has stored
 * the replayed record, so that a crash loses nothing.
 */
export async function replayDeadLetters(deps: Deps, options: ReplayOptions): Promise<ReplayReport> {
  const { context, clock } = deps
  const { filter, perSecond, dryRun = false, ends, signal, begin = () => true, onProgress, shouldCheckAgain } = options
  const failing = new AbortController()
  const stop = AbortSignal.any([signal, failing.signal])
  const paced = createPacer(clock, perSecond, stop)
  const yieldToOthers = createYield(clock)
  const planOf = createReplayPlans(deps)
  const tally = new Map<string, ReplayRow>()
  const destinations = new Set<string>()
  let total: number | undefined
  let seen = 0
  let replayable = 0
  let refused = 0
  let isDeclined = false
  const reportProgress = (): void => onProgress?.({ seen, replayed: writing.replayed, replayable, refused })
  const writing = new Writing(deps, reportProgress, error => failing.abort(error))

  async function visit(deadLetter: DeadLetter, record: LogRecord): Promise<void> {
    await yieldToOthers()
    seen++
    reportProgress()
    if (deadLetter.destination !== undefined) destinations.add(deadLetter.destination)
    if (!matches(deadLetter, filter)) return
    let plan = await planOf(record, deadLetter)
    while ('refusal' in plan && (await shouldCheckAgain?.(plan.refusal)) === true) {
      stop.throwIfAborted()
      plan = await planOf(record, deadLetter)
    }
    count(tally, deadLetter, plan)
    if ('refusal' in plan) refused++
    else if (dryRun) replayable++
    if (dryRun || 'refusal' in plan) return reportProgress()
    await paced()
    await writing.start(record, plan, stop, () => {
      count(tally, deadLetter, plan, -1)
      count(tally, deadLetter, { refusal: 'too_large' })
      refused++
      reportProgress()
    })
  }

  async function counted(number: number): Promise<boolean> {
    total = number
    isDeclined = !(await begin(number))
    return !isDeclined
  }

  function endOf(thrown: unknown): ReplayEnd {
    if (writing.failure !== undefined) return { kind: 'failed', error: writing.failure }
    const isInterrupted = signal.aborted && (isDeclined || thrown === signal.reason)
    if (isInterrupted) return { kind: 'interrupted' }
    if (thrown !== undefined) return { kind: 'failed', error: thrown }
    return { kind: isDeclined ? 'declined' : 'done' }
  }

  const reader = stoppable(deps.reader, stop)
  const reading = visitDeadLetters(reader, context.topics.deadLetter, visit, counted, new LiveDeadLetters(ends))
  const thrown = await reading.then(
    number => {
      // After a complete replay, this number is exact, while `begin` may have got an estimate.
      total = number
      return undefined
    },
    (error: unknown) => error,
  )
  await writing.drained()
  const { replayed, unmarked } = writing
  return { total, rows: rowsOf(tally), replayed, unmarked, destinations, end: endOf(thrown) }
}

const stoppable = (reader: TopicReader, stop: AbortSignal): TopicReader => ({
  readToEnd: (topic, onRecord) =>
    reader.readToEnd(topic, record => {
      stop.throwIfAborted()
      return onRecord(record)
    }),
})

function count(tally: Map<string, ReplayRow>, { destination, reason }: DeadLetter, plan: ReplayPlan, change = 1): void {
  const target = 'topic' in plan ? { topic: plan.topic } : plan
  const key = JSON.stringify([destination, reason, target])
  tally.set(key, { destination, reason, target, count: (tally.get(key)?.count ?? 0) + change })
}

const rowsOf = (tally: ReadonlyMap<string, ReplayRow>): readonly ReplayRow[] =>
  [...tally.values()].filter(row => row.count > 0)

class Writing {
  readonly #deps: Pick<Deps, 'producer' | 'context'>
  readonly #onReplayed: () => void
  readonly #onFailure: (error: Error) => void
  readonly #inFlight = new Semaphore(maxInFlight)
  replayed = 0
  unmarked = 0
  /**
   * The error of the first failed append, which ends the replay. If the event is too large, the
   * dead letter is refused instead, and the replay continues.
   */
  failure: Error | undefined

  constructor(deps: Pick<Deps, 'producer' | 'context'>, onReplayed: () => void, onFailure: (error: Error) => void) {
    this.#deps = deps
    this.#onReplayed = onReplayed
    this.#onFailure = onFailure
  }

  /**
   * Waits while `maxInFlight` dead letters are in progress. Then starts to append `copy`, and after
   * it the tombstone of the dead letter `record`.
   * @throws the reason of an aborted `stop`
   */
  async start(
    record: LogRecord,
    { topic, copy }: { readonly topic: string; readonly copy: OutgoingRecord },
    stop: AbortSignal,
    tooLarge: () => void,
  ): Promise<void> {
    await this.#inFlight.acquire()
    if (stop.aborted) this.#inFlight.release()
    stop.throwIfAborted()
    const { producer, context } = this.#deps
    producer.append(topic, copy, notCopied => {
      if (notCopied !== undefined && isTooLarge(notCopied)) {
        tooLarge()
        return this.#inFlight.release()
      }
      if (notCopied !== undefined) return this.#end(notCopied)
      producer.append(context.topics.deadLetter, replayedTombstone(record), notMarked => {
        if (notMarked === undefined) this.replayed++
        else this.unmarked++
        this.#end(notMarked)
      })
    })
  }

  drained(): Promise<void> {
    return this.#inFlight.drained()
  }

  #end(error: Error | undefined): void {
    if (error === undefined) this.#onReplayed()
    else if (this.failure === undefined) {
      this.failure = error
      this.#onFailure(error)
    }
    this.#inFlight.release()
  }
}
