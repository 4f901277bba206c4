import { type ResultCounts, shardCount } from '../../core/live-status/result-counts-of-this-process.ts'
import { type DestinationActivity, encodeProcess, type Rates } from '../../core/live-status/status-record.ts'
import type { Clock } from '../../core/ports.ts'
import type { ServiceName } from '../../core/settings/service-names.ts'
import { durationMs } from '../../core/time.ts'
import { within } from '../../core/within-time-limit.ts'
import { createPeriodicTask } from '../periodic-task.ts'
import { StatusAppender, type StatusAppenderDeps } from './status-appender.ts'
import { WrittenShard } from './written-shard.ts'

/** What the dispatcher adds to the status of its process. */
export interface DispatcherActivity {
  readonly results: ResultCounts
  /** Returns the activity of a destination in this process; `undefined` while it has none. */
  activityOf(destination: string): DestinationActivity | undefined
  /** Number of partitions of the events topic that the process owns. */
  partitions(): number
}

export interface StatusWriterDeps extends StatusAppenderDeps {
  /** Unique name of this process: a restart changes it. */
  readonly instance: string
  readonly services: readonly ServiceName[]
  readonly version: string
  readonly clock: Clock
}

/**
 * Time between two runs of the writer. Each run is short: it handles only a fifth of the shards
 * (groups of destinations).
 */
const runEvery = durationMs(1_000)
const runsPerCycle = 5
/**
 * Limit of each of the two waits in `stop`: for the writes in progress, and for the last writes.
 */
const stopLimit = durationMs(1_000)

export interface StatusWriter {
  start(): void
  /**
   * Adds the activity, results and rates of the dispatcher to the status. Call it before the
   * dispatcher reads records, because the rates do not count earlier results.
   */
  include(dispatcher: DispatcherActivity): void
  /**
   * Writes the last results, and tombstones for all other records of this process. Takes at most 2
   * s.
   */
  stop(): Promise<void>
}

/** Writes the status of this process to the status topic. */
export function createStatusWriter(deps: StatusWriterDeps): StatusWriter {
  const { clock, producer, instance } = deps
  const startedAt = clock.now()
  const records = new StatusAppender(deps)
  const shards = Array.from({ length: shardCount }, () => new WrittenShard(startedAt))
  let dispatcher: DispatcherActivity | undefined
  let rates = createRates(undefined, clock.monotonic())
  let runs = 0

  function writeProcess(): void {
    const key = { kind: 'process', instance } as const
    if (records.isWriting(key)) return
    const { services, version } = deps
    const partitions = dispatcher?.partitions() ?? 0
    records.write(key, encodeProcess({ services, version, startedAt, partitions, rates: rates(clock.monotonic()) }))
  }

  function writeShards(from: number, includesResults: boolean): void {
    if (dispatcher === undefined) return
    const now = clock.now()
    for (let shard = from; shard < shardCount; shard += runsPerCycle) {
      const written = shards[shard] as WrittenShard
      written.writeActivity(records, { kind: 'activity', instance, shard }, activityIn(dispatcher, shard), now)
      if (includesResults) written.writeResults(records, { instance, shard }, dispatcher.results.shard(shard), now)
    }
  }

  const inTime = (flushed: Promise<void>): Promise<void> => within(clock, stopLimit, flushed, () => undefined)

  const task = createPeriodicTask({
    clock,
    firstRunAfter: runEvery,
    run() {
      const position = runs++ % (2 * runsPerCycle)
      if (position % runsPerCycle === 0) writeProcess()
      writeShards(position % runsPerCycle, position < runsPerCycle)
      return runEvery
    },
  })

  return {
    start: task.start,
    include(given) {
      dispatcher = given
      rates = createRates(given.results, clock.monotonic())
    },
    async stop() {
      task.stop()
      // A key can have only one write in progress, so the last writes wait for the earlier ones.
      await inTime(producer.flush())
      for (const [shard, written] of shards.entries()) {
        if (dispatcher !== undefined)
          written.writeResults(records, { instance, shard }, dispatcher.results.shard(shard), clock.now())
        if (written.hasActivity) records.write({ kind: 'activity', instance, shard }, undefined)
      }
      records.write({ kind: 'process', instance }, undefined)
      await inTime(producer.flush())
    },
  }
}

function* activityIn(dispatcher: DispatcherActivity, shard: number): Generator<readonly [string, DestinationActivity]> {
  for (const destination of dispatcher.results.shard(shard).keys()) {
    const activity = dispatcher.activityOf(destination)
    if (activity !== undefined) yield [destination, activity]
  }
}

/**
 * Returns a function that computes the rates per second since its last call, rounded to a tenth.
 */
function createRates(results: ResultCounts | undefined, from: number): (now: number) => Rates {
  let last = { admitted: 0, delivered: 0, failed: 0, ...results?.totals }
  let at = from
  return now => {
    const current = { ...last, ...results?.totals }
    const seconds = Math.max(0.001, (now - at) / 1000)
    const rate = (name: keyof typeof current): number => Math.round(((current[name] - last[name]) / seconds) * 10) / 10
    const rates = { admitted: rate('admitted'), delivered: rate('delivered'), failed: rate('failed') }
    last = current
    at = now
    return rates
  }
}
