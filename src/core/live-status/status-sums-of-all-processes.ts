import { type DurationMs, durationMs, type EpochMs, epochMs } from '../time.ts'
import { type Counts, shardOf } from './result-counts-of-this-process.ts'
import {
  addResults,
  atRest,
  type DestinationActivity,
  decodeActivity,
  decodeKey,
  decodeProcess,
  type ProcessFacts,
  periodMs,
  periodOf,
} from './status-record.ts'

/** A process without a record for this time is stale: it has ended, or cannot reach Kafka. */
export const staleAfter = durationMs(30_000)
const hour = durationMs(3_600_000)
const day = durationMs(24 * hour)
/** Maximum age of kept results: a day and one period, because sums consist of whole periods. */
export const resultsAge = durationMs(day + periodMs)

export interface LiveProcess extends ProcessFacts {
  readonly instance: string
  readonly seenAt: EpochMs
}

/** The sum of the results from `since`, the beginning of a period of 15 minutes, until now. */
export interface SummedResults extends Readonly<Counts> {
  readonly since: EpochMs
}

type Shards = Map<number, ReadonlyMap<string, DestinationActivity>>

interface Results {
  readonly start: EpochMs
  /** The encoded results. They are large, so they are decoded only on request. */
  readonly value: Buffer
}

/**
 * The sums of the records in the status topic. The results of an ended process still count. The
 * facts and activity of a process count only while its last record is younger than `staleAfter`.
 */
export class LiveSums {
  readonly #processes = new Map<string, LiveProcess>()
  readonly #activity = new Map<string, Shards>()
  /** By shard (a group of destinations, see `shardOf`), then by the key of the record. */
  readonly #results = new Map<number, Map<string, Results>>()

  /** `value` is `null` in a tombstone. The caller may reuse the buffer afterwards. */
  apply(keyText: string, value: Buffer | null, at: EpochMs): void {
    const key = decodeKey(keyText)
    switch (key?.kind) {
      case 'process': {
        const facts = value === null ? undefined : decodeProcess(value)
        if (facts === undefined) this.#processes.delete(key.instance)
        else this.#processes.set(key.instance, { ...facts, instance: key.instance, seenAt: at })
        return
      }
      case 'activity': {
        const shards = ofKey(this.#activity, key.instance, (): Shards => new Map())
        if (value === null) shards.delete(key.shard)
        else shards.set(key.shard, decodeActivity(value))
        return
      }
      case 'results': {
        const records = ofKey(this.#results, key.shard, () => new Map<string, Results>())
        if (value === null) records.delete(keyText)
        else records.set(keyText, { start: key.start, value: Buffer.from(value) })
        return
      }
      case undefined:
        return
    }
  }

  /**
   * Removes processes and results older than `resultsAge`. Call it only after the topic was read to
   * its end. The activity of a stale process is kept: if the process continues, its kept activity
   * counts again, and the process repeats unchanged activity only once an hour.
   */
  prune(now: EpochMs): void {
    for (const { instance, seenAt } of this.#processes.values())
      if (now - seenAt > resultsAge) this.#processes.delete(instance)
    for (const instance of this.#activity.keys()) if (!this.#processes.has(instance)) this.#activity.delete(instance)
    for (const records of this.#results.values())
      for (const [key, { start }] of records) if (now - start > resultsAge) records.delete(key)
  }

  /** The processes that wrote a record within `staleAfter`, in the order of their names. */
  processes(now: EpochMs): readonly LiveProcess[] {
    const live = [...this.#processes.values()].filter(({ seenAt }) => now - seenAt <= staleAfter)
    return live.sort((a, b) => (a.instance < b.instance ? -1 : 1))
  }

  /** The activity of a destination now, summed over the processes that are not stale. */
  activityOf(destination: string, now: EpochMs): DestinationActivity {
    const shard = shardOf(destination)
    return this.#liveShards(now)
      .flatMap(shards => shards.get(shard)?.get(destination) ?? [])
      .reduce(sumOf, atRest)
  }

  /**
   * The destinations whose circuit breaker is open or probing in at least one process that is not
   * stale.
   */
  openBreakers(now: EpochMs): readonly string[] {
    const found = new Set<string>()
    for (const shards of this.#liveShards(now))
      for (const shard of shards.values())
        for (const [destination, { breaker }] of shard) if (breaker !== 'closed') found.add(destination)
    return [...found].sort()
  }

  /**
   * The results of a destination. Each sum may include up to 15 minutes more than an hour or a day,
   * because it consists of whole periods.
   */
  resultsOf(destination: string, now: EpochMs): { readonly lastHour: SummedResults; readonly lastDay: SummedResults } {
    const records = [...(this.#results.get(shardOf(destination))?.values() ?? [])]
    const since = (age: DurationMs): SummedResults => {
      const first = periodOf(epochMs(now - age))
      const sum: Counts = { delivered: 0, failed: 0, deadLettered: 0, dropped: 0 }
      for (const { start, value } of records) if (start >= first) addResults(sum, value, destination)
      return { since: first, ...sum }
    }
    return { lastHour: since(hour), lastDay: since(day) }
  }

  #liveShards(now: EpochMs): readonly Shards[] {
    return this.processes(now).flatMap(({ instance }) => this.#activity.get(instance) ?? [])
  }
}

function sumOf(one: DestinationActivity, other: DestinationActivity): DestinationActivity {
  const probes = [one.nextProbeAt, other.nextProbeAt].filter(at => at !== undefined)
  const paces = [one.pace, other.pace].filter(pace => pace !== undefined)
  const pauses = [one.pausedUntil, other.pausedUntil].filter(at => at !== undefined)
  const states = [one.breaker, other.breaker]
  return {
    breaker: (['probing', 'open'] as const).find(state => states.includes(state)) ?? 'closed',
    nextProbeAt: probes.length === 0 ? undefined : epochMs(Math.min(...probes)),
    requestsInProgress: one.requestsInProgress + other.requestsInProgress,
    inMemory: one.inMemory + other.inMemory,
    pace: paces.length === 0 ? undefined : paces.reduce((sum, pace) => sum + pace, 0),
    pausedUntil: pauses.length === 0 ? undefined : epochMs(Math.max(...pauses)),
  }
}

function ofKey<Key, Value>(map: Map<Key, Value>, key: Key, create: () => Value): Value {
  const known = map.get(key)
  if (known !== undefined) return known
  const value = create()
  map.set(key, value)
  return value
}
