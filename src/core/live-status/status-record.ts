import { isObject, jsonValueIn, objectIn } from '../message/json.ts'
import type { ServiceName } from '../settings/service-names.ts'
import { type EpochMs, epochMs } from '../time.ts'
import type { Counts } from './result-counts-of-this-process.ts'

/*
 * The records of the status topic. A reader ignores unknown and malformed fields, so that processes
 * of different versions can read all records. A record replaces the earlier record with the same
 * key:
 *
 *   process/<instance>                      facts about a process, every 5 s
 *   activity/<instance>/<shard>             destinations of the shard that are not at rest
 *   results/<instance>/<start>/<shard>      results of the shard's destinations in 15 minutes
 *
 * A shard is a group of destinations (`shardOf`). A destination is at rest if its circuit breaker
 * is closed, and it has no request in progress, no delivery in memory, no pace and no pause.
 */

export interface ProcessFacts {
  readonly services: readonly string[]
  readonly version: string
  readonly startedAt: EpochMs
  /** Number of partitions of the events topic that the process owns. */
  readonly partitions: number
  readonly rates: Rates
}

/** Rates per second of a process, measured since its previous record, about 5 s earlier. */
export interface Rates {
  readonly admitted: number
  readonly delivered: number
  readonly failed: number
}

/** The state of a circuit breaker; `closed` while the destination is disabled or paused. */
export type BreakerState = 'closed' | 'open' | 'probing'

/** The activity of a destination in one process. */
export interface DestinationActivity {
  readonly breaker: BreakerState
  /** When the next attempt may be made as a probe, while the circuit breaker is open. */
  readonly nextProbeAt?: EpochMs | undefined
  readonly requestsInProgress: number
  /** Deliveries that wait in the destination queue. */
  readonly inMemory: number
  /** The pace in attempts per second, which a destination has after a 429. */
  readonly pace?: number | undefined
  /** When the pause after a Retry-After ends. Pauses of at most 1 s are not reported. */
  readonly pausedUntil?: EpochMs | undefined
}

export const atRest: DestinationActivity = { breaker: 'closed', requestsInProgress: 0, inMemory: 0 }

export type StatusKey =
  | { readonly kind: 'process'; readonly instance: string }
  | { readonly kind: 'activity'; readonly instance: string; readonly shard: number }
  | { readonly kind: 'results'; readonly instance: string; readonly start: EpochMs; readonly shard: number }

/** Length of the period of a results record in ms: 15 minutes, so 96 periods a day. */
export const periodMs = 900_000
export const periodOf = (at: EpochMs): EpochMs => epochMs(Math.floor(at / periodMs) * periodMs)

export function encodeKey(key: StatusKey): string {
  switch (key.kind) {
    case 'process':
      return `process/${key.instance}`
    case 'activity':
      return `activity/${key.instance}/${key.shard}`
    case 'results':
      return `results/${key.instance}/${key.start}/${key.shard}`
  }
}

const keyForm =
  /^(?:process\/([^/]{1,100})|activity\/([^/]{1,100})\/(\d{1,4})|results\/([^/]{1,100})\/(\d{1,15})\/(\d{1,4}))$/

/**
 * Decodes the key of a record; `undefined` for keys of another form, which other versions may
 * write.
 */
export function decodeKey(text: string): StatusKey | undefined {
  const [matched, ofProcess, ofActivity, shard, ofResults, start, part] = keyForm.exec(text) ?? []
  if (matched === undefined) return undefined
  if (ofProcess !== undefined) return { kind: 'process', instance: ofProcess }
  if (ofActivity !== undefined) return { kind: 'activity', instance: ofActivity, shard: Number(shard) }
  return { kind: 'results', instance: ofResults as string, start: epochMs(Number(start)), shard: Number(part) }
}

export const encodeProcess = (facts: ProcessFacts & { readonly services: readonly ServiceName[] }): string =>
  JSON.stringify(facts)

/**
 * Decodes the facts about a process; `undefined` when the value is not a JSON object, for example
 * because another program wrote it.
 */
export function decodeProcess(value: Buffer): ProcessFacts | undefined {
  const given = objectIn(value.toString())
  if (given === undefined) return undefined
  const rates = isObject(given['rates']) ? given['rates'] : {}
  const services = Array.isArray(given['services']) ? given['services'] : []
  return {
    services: services.filter(isShortText).slice(0, maxServices),
    version: isShortText(given['version']) ? given['version'] : '',
    startedAt: timeIn(given['startedAt']) ?? epochMs(0),
    partitions: countIn(given['partitions']),
    rates: {
      admitted: numberIn(rates['admitted']) ?? 0,
      delivered: numberIn(rates['delivered']) ?? 0,
      failed: numberIn(rates['failed']) ?? 0,
    },
  }
}

/** Encodes the activity of a shard, without the destinations and values that equal `atRest`. */
export function encodeActivity(all: Iterable<readonly [destination: string, DestinationActivity]>): string {
  const shown = [...all].map(([id, { breaker, nextProbeAt, requestsInProgress, inMemory, pace, pausedUntil }]) => [
    id,
    {
      ...(breaker !== 'closed' && { breaker, nextProbeAt }),
      ...(requestsInProgress > 0 && { requestsInProgress }),
      ...(inMemory > 0 && { inMemory }),
      pace,
      pausedUntil,
    },
  ])
  return JSON.stringify(Object.fromEntries(shown))
}

export function decodeActivity(value: Buffer): ReadonlyMap<string, DestinationActivity> {
  const all = new Map<string, DestinationActivity>()
  for (const [id, given] of Object.entries(objectIn(value.toString()) ?? {})) {
    if (!isObject(given)) continue
    all.set(id, {
      breaker: given['breaker'] === 'open' || given['breaker'] === 'probing' ? given['breaker'] : 'closed',
      nextProbeAt: timeIn(given['nextProbeAt']),
      requestsInProgress: countIn(given['requestsInProgress']),
      inMemory: countIn(given['inMemory']),
      pace: numberIn(given['pace']),
      pausedUntil: timeIn(given['pausedUntil']),
    })
  }
  return all
}

/**
 * Encodes an array of four numbers for each destination with results. Builds the text without
 * intermediate objects, because a shard can have thousands of destinations.
 */
export function encodeResults(all: Iterable<readonly [destination: string, Counts]>): string {
  let text = ''
  for (const [id, { delivered, failed, deadLettered, dropped }] of all) {
    if (delivered + failed + deadLettered + dropped === 0) continue
    text += `${text === '' ? '' : ','}${JSON.stringify(id)}:[${delivered},${failed},${deadLettered},${dropped}]`
  }
  return `{${text}}`
}

/**
 * Adds the results of a destination in `value` to `sum`. Searches the text, because decoding all
 * records of a day could block this process for too long.
 */
export function addResults(sum: Counts, value: Buffer, destination: string): void {
  const field = `${JSON.stringify(destination)}:[`
  // The field must follow `{` or `,`. Otherwise it may be the end of a longer id that contains a
  // quote.
  const first = Buffer.from(`{${field}`)
  const found = value.subarray(0, first.length).equals(first) ? 0 : value.indexOf(`,${field}`)
  if (found === -1) return
  const from = found + Buffer.byteLength(field)
  const given = jsonValueIn(value.toString('utf8', from, value.indexOf(']', from) + 1))
  if (!Array.isArray(given)) return
  sum.delivered += countIn(given[0])
  sum.failed += countIn(given[1])
  sum.deadLettered += countIn(given[2])
  sum.dropped += countIn(given[3])
}

const maxServices = 10

const isShortText = (value: unknown): value is string => typeof value === 'string' && value.length <= 100
const numberIn = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined
const countIn = (value: unknown): number => (Number.isSafeInteger(value) ? (numberIn(value) ?? 0) : 0)
/** The maximum time in ms that a `Date` can have. */
const maxTime = 8.64e15
const timeIn = (value: unknown): EpochMs | undefined =>
  Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= maxTime
    ? epochMs(value as number)
    : undefined
