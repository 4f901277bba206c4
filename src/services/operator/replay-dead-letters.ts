import { type DeadLetter, type DeadLetterFilter, matches } from '../../core/delivery/dead-letter.ts'
import { type ReplayRefusal, replayedTombstone } from '../../core/delivery/replay-target.ts'
import { InFlight } from '../../core/flow/in-flight.ts'
import type { LogProducer, LogRecord, OutgoingRecord, TopicReader } from '../../core/ports.ts'
import { createPacer } from '../pacer.ts'
import { visitDeadLetters } from './read-dead-letters.ts'
import { createReplayTargets, type ReplayTargetDeps, type Way } from './replay-targets.ts'

/** Dead letters under way at once: enough for full batches, and the most that a crash can leave put back and not marked. */
const maxInFlight = 256

interface Deps extends ReplayTargetDeps {
  readonly reader: TopicReader
  readonly producer: LogProducer
}

export interface ReplayOptions {
  readonly filter: DeadLetterFilter
  /** Dead letters a second; undefined: as fast as Kafka takes them. */
  readonly perSecond?: number | undefined
  /** Nothing is written. */
  readonly dryRun?: boolean | undefined
  /** Once aborted, only what is under way still ends. */
  readonly signal: AbortSignal
  /** Told how many dead letters there are, before the first one is put back; false: none is to be. */
  readonly begin?: ((total: number) => boolean | Promise<boolean>) | undefined
  readonly onProgress?: ((progress: ReplayProgress) => void) | undefined
}

export interface ReplayProgress {
  /** Dead letters seen, selected or not. */
  readonly seen: number
  readonly replayed: number
}

/** Selected dead letters of one kind that go one way. */
export interface ReplayRow {
  readonly destination: string | undefined
  readonly reason: string
  readonly way: { readonly topic: string } | { readonly refusal: ReplayRefusal }
  readonly count: number
}

export interface ReplayReport {
  /** Dead letters that had not been put back before; undefined when it ended before they were counted. */
  readonly total: number | undefined
  readonly rows: readonly ReplayRow[]
  /** Put back and marked so. */
  readonly replayed: number
  /** Put back, but Kafka did not take the mark: the next replay puts them back once more. */
  readonly unmarked: number
  /** Destinations that dead letters name, selected or not. */
  readonly destinations: ReadonlySet<string>
  readonly end: ReplayEnd
}

export type ReplayEnd =
  | { readonly kind: 'done' }
  /** Not to be begun. */
  | { readonly kind: 'declined' }
  | { readonly kind: 'interrupted' }
  /** Kafka did not take a record, or what is left cannot be read. */
  | { readonly kind: 'failed'; readonly error: unknown }

/**
 * Puts back the dead letters that a filter selects: first the copy, then, when all replicas have that, the mark that takes
 * the dead letter back. So a crash at any instant loses none; what it leaves put back and not marked is put back once more
 * by the next replay, under the same message id. Run again, it goes on where it ended.
 */
export async function replayDeadLetters(deps: Deps, options: ReplayOptions): Promise<ReplayReport> {
  const { circumstances, clock } = deps
  const { filter, perSecond, dryRun = false, signal, begin = () => true, onProgress } = options
  const failing = new AbortController()
  const stop = AbortSignal.any([signal, failing.signal])
  const paced = createPacer(clock, perSecond, stop)
  const wayOf = createReplayTargets(deps)
  const tally = new Map<string, ReplayRow>()
  const destinations = new Set<string>()
  let total: number | undefined
  let seen = 0
  let isDeclined = false
  const tell = (): void => onProgress?.({ seen, replayed: writing.replayed })
  const writing = new Writing(deps, tell, error => failing.abort(error))

  async function visit(deadLetter: DeadLetter, record: LogRecord): Promise<void> {
    seen++
    tell()
    if (deadLetter.destination !== undefined) destinations.add(deadLetter.destination)
    if (!matches(deadLetter, filter)) return
    const way = await wayOf(record, deadLetter)
    count(tally, deadLetter, way)
    if (dryRun || 'refusal' in way) return
    await paced()
    await writing.start(record, way, stop)
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

  const reading = visitDeadLetters(stoppable(deps.reader, stop), circumstances.topics.deadLetter, visit, counted)
  const thrown = await reading.then(
    () => undefined,
    (error: unknown) => error,
  )
  await writing.drained()
  const { replayed, unmarked } = writing
  return { total, rows: [...tally.values()], replayed, unmarked, destinations, end: endOf(thrown) }
}

/** Rejects with the signal's reason at the first record after the abort. */
const stoppable = (reader: TopicReader, stop: AbortSignal): TopicReader => ({
  readToEnd: (topic, onRecord) =>
    reader.readToEnd(topic, record => {
      stop.throwIfAborted()
      return onRecord(record)
    }),
})

function count(tally: Map<string, ReplayRow>, { destination, reason }: DeadLetter, way: Way): void {
  const target = 'topic' in way ? { topic: way.topic } : way
  const key = JSON.stringify([destination, reason, target])
  tally.set(key, { destination, reason, way: target, count: (tally.get(key)?.count ?? 0) + 1 })
}

/** Copies and marks under way. */
class Writing {
  readonly #deps: Pick<Deps, 'producer' | 'circumstances'>
  readonly #onReplayed: () => void
  readonly #onFailure: (error: Error) => void
  readonly #inFlight = new InFlight(maxInFlight)
  replayed = 0
  unmarked = 0
  /** The first one: what follows would fare no better. */
  failure: Error | undefined

  constructor(
    deps: Pick<Deps, 'producer' | 'circumstances'>,
    onReplayed: () => void,
    onFailure: (error: Error) => void,
  ) {
    this.#deps = deps
    this.#onReplayed = onReplayed
    this.#onFailure = onFailure
  }

  /** Waits until one more may be in flight. @throws the reason of `stop` */
  async start(
    record: LogRecord,
    { topic, copy }: { readonly topic: string; readonly copy: OutgoingRecord },
    stop: AbortSignal,
  ): Promise<void> {
    await this.#inFlight.begin()
    if (stop.aborted) this.#inFlight.ended()
    stop.throwIfAborted()
    const { producer, circumstances } = this.#deps
    producer.append(topic, copy, notCopied => {
      if (notCopied !== undefined) return this.#end(notCopied)
      producer.append(circumstances.topics.deadLetter, replayedTombstone(record), notMarked => {
        if (notMarked === undefined) this.replayed++
        else this.unmarked++
        this.#end(notMarked)
      })
    })
  }

  /** Resolves when nothing is in flight. */
  drained(): Promise<void> {
    return this.#inFlight.drained()
  }

  #end(error: Error | undefined): void {
    if (error === undefined) this.#onReplayed()
    else if (this.failure === undefined) {
      this.failure = error
      this.#onFailure(error)
    }
    this.#inFlight.ended()
  }
}
