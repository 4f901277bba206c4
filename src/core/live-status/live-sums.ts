import { type DurationMs, durationMs, type EpochMs, epochMs } from '../time.ts'
import { type Counts, shardOf } from './result-counts.ts'
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

/** A process that wrote nothing for this time is dead, or cannot reach Kafka. It writes every 5 s. */
export const staleAfter = durationMs(30_000)
const hour = durationMs(3_600_000)
const day = durationMs(24 * hour)
/**
 * Results older than this are in no sum. It is one period longer than a day, because the sum of the
 * last day consists of whole periods.
 */
export const resultsAge = durationMs(day + periodMs)

export interface LiveProcess extends ProcessFacts {
  readonly instance: string
  readonly seenAt: EpochMs
}

/** Results since a time, at the beginning of a period of 15 minutes. */
export interface SummedResults extends Readonly<Counts> {
  readonly since: EpochMs
}

type Shards = Map<number, ReadonlyMap<string, DestinationActivity>>

interface Results {
  readonly start: EpochMs
  /** Decoded only when a status asks for it: a day of many destinations is large. */
  readonly value: Buffer
}

/**
 * The sum of what all processes wrote to the status topic. Results count also after their process
 * has ended; everything else counts only while the process writes.
 */
export class LiveSums {
  readonly #processes = new Map<string, LiveProcess>()
  readonly #activity = new Map<string, Shards>()
  /** Results by shard and key of the record. */
  readonly #results = new Map<number, Map<string, Results>>()

  /** Applies a record of the topic. `value` is `null` in a tombstone, and is copied if it is kept. */
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
   * Removes what no longer counts. Call it only when the topic is read to its end. A process that is
   * stale stays for a day: when it can write again, it writes only what has changed.
   */
  prune(now: EpochMs): void {
    for (const { instance, seenAt } of this.#processes.values())
      if (now - seenAt > resultsAge) this.#processes.delete(instance)
    for (const instance of this.#activity.keys()) if (!this.#processes.has(instance)) this.#activity.delete(instance)
    for (const records of this.#results.values())
      for (const [key, { start }] of records) if (now - start > resultsAge) records.delete(key)
  }

  /** The processes that wrote within `staleAfter`, in the order of their names. */
  processes(now: EpochMs): readonly LiveProcess[] {
    const live = [...this.#processes.values()].filter(({ seenAt }) => now - seenAt <= staleAfter)
    return live.sort((a, b) => (a.instance < b.instance ? -1 : 1))
  }

  /** What the processes know about a destination now. */
  activityOf(destination: string, now: EpochMs): DestinationActivity {
    const shard = shardOf(destination)
    return this.#liveShards(now)
      .flatMap(shards => shards.get(shard)?.get(destination) ?? [])
      .reduce(sumOf, atRest)
  }

  /** The destinations whose circuit breaker is not closed in a process, in the order of their ids. */
  openBreakers(now: EpochMs): readonly string[] {
    const found = new Set<string>()
    for (const shards of this.#liveShards(now))
      for (const shard of shards.values())
        for (const [destination, { breaker }] of shard) if (breaker !== 'closed') found.add(destination)
    return [...found].sort()
  }

  /** The results of the last hour and day: of whole periods, so up to 15 minutes more. */
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

/** `open` in one process is `open` for all, and a probe in one is a probe for all. */
function sumOf(one: DestinationActivity, other: DestinationActivity): DestinationActivity {
  const probes = [one.nextProbeAt, other.nextProbeAt].filter(at => at !== undefined)
  const paces = [one.pace, other.pace].filter(pace => pace !== undefined)
  const states = [one.breaker, other.breaker]
  return {
    breaker: (['probing', 'open'] as const).find(state => states.includes(state)) ?? 'closed',
    nextProbeAt: probes.length === 0 ? undefined : epochMs(Math.min(...probes)),
    requestsInProgress: one.requestsInProgress + other.requestsInProgress,
    inMemory: one.inMemory + other.inMemory,
    pace: paces.length === 0 ? undefined : paces.reduce((sum, pace) => sum + pace, 0),
  }
}

function ofKey<Key, Value>(map: Map<Key, Value>, key: Key, create: () => Value): Value {
  const known = map.get(key)
  if (known !== undefined) return known
  const value = create()
  map.set(key, value)
  return value
}
