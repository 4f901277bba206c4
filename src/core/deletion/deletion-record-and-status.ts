import type { DeadLetterReason, DropReason } from '../delivery/outcomes-reasons-and-classification.ts'
import type { JsonText } from '../message/canonical-json-text.ts'
import { type ReportedResult, reportedResults } from '../message/delivered-or-undelivered.ts'
import { isObject } from '../message/json.ts'
import { parseField } from '../message/parse-message-json.ts'
import { toIsoTimestamp } from '../message/timestamp.ts'
import { type EpochMs, epochMs } from '../time.ts'

/**
 * An accepted deletion, stored in the deletions topic. With many destinations, it has several
 * records (`encodeDeletionParts`).
 */
export interface DeletionRecord {
  readonly id: string
  readonly createdAt: EpochMs
  /** The number of users to delete. */
  readonly users: number
  readonly isSuppressed: boolean
  /** The affected sources, each with the destinations that get the delete messages. */
  readonly sources: readonly { readonly id: string; readonly destinations: readonly string[] }[]
}

/** The result of one user's delete message at one destination. */
export interface DeletionOutcome {
  readonly request: string
  readonly source: string
  readonly destination: string
  readonly userId: string
  readonly result: ReportedResult
  /** Why the message was not delivered; `undefined` when it was delivered. */
  readonly reason: DeadLetterReason | DropReason | undefined
}

/** `failed`: all messages have a result, and at least one was not delivered. */
export type DeletionState = 'running' | 'finished' | 'failed'

/** The response to `GET /v1/regulations/:id`. */
export interface DeletionStatus {
  readonly id: string
  readonly status: DeletionState
  readonly createdAt: string
  /** Set when the deletions topic was read only up to a limit, so that results may be missing. */
  readonly partial?: true
  readonly sources: readonly {
    readonly id: string
    readonly destinations: readonly {
      readonly id: string
      readonly status: DeletionState
      readonly delivered: number
      readonly undelivered: number
      readonly waiting: number
    }[]
  }[]
}

/** Computes the status of one deletion from the records of the deletions topic. */
export class DeletionTally {
  /** The result of each delete message, by source, destination and user. */
  readonly #results = new Map<string, ReportedResult>()
  readonly #record: DeletionRecord
  readonly #places: ReadonlySet<string>
  /** The number of delivered messages of this deletion. */
  #delivered = 0

  constructor(record: DeletionRecord) {
    this.#record = record
    this.#places = new Set(
      record.sources.flatMap(({ id, destinations }) => destinations.map(each => placeOf(id, each))),
    )
  }

  /**
   * Adds a result. Must be called in the order of the topic: a later result replaces an earlier
   * one.
   */
  addOutcome({ request, source, destination, userId, result }: DeletionOutcome): void {
    if (request !== this.#record.id || !this.#places.has(placeOf(source, destination))) return
    const key = JSON.stringify([source, destination, userId])
    this.#delivered += Number(result === 'delivered') - Number(this.#results.get(key) === 'delivered')
    this.#results.set(key, result)
  }

  /** Whether every delete message was delivered. */
  isFinished(): boolean {
    return this.#delivered >= this.#places.size * this.#record.users
  }

  status(): DeletionStatus {
    const { id, createdAt, sources, users } = this.#record
    const counts = new Map<string, Record<ReportedResult, number>>()
    for (const [key, result] of this.#results) {
      const [source, destination] = JSON.parse(key) as [string, string]
      const count = counts.get(placeOf(source, destination)) ?? { delivered: 0, undelivered: 0 }
      count[result]++
      counts.set(placeOf(source, destination), count)
    }
    const shown = sources.map(source => ({
      id: source.id,
      destinations: source.destinations.map(destination => {
        const { delivered, undelivered } = counts.get(placeOf(source.id, destination)) ?? {
          delivered: 0,
          undelivered: 0,
        }
        const waiting = Math.max(0, users - delivered - undelivered)
        return { id: destination, status: stateOf(waiting, undelivered), delivered, undelivered, waiting }
      }),
    }))
    const states = shown.flatMap(({ destinations }) => destinations.map(({ status }) => status))
    return { id, status: worst(states), createdAt: toIsoTimestamp(createdAt), sources: shown }
  }
}

const placeOf = (source: string, destination: string): string => `${source}/${destination}`

function stateOf(waiting: number, undelivered: number): DeletionState {
  if (waiting > 0) return 'running'
  return undelivered > 0 ? 'failed' : 'finished'
}

const worst = (states: readonly DeletionState[]): DeletionState =>
  (['running', 'failed'] as const).find(state => states.includes(state)) ?? 'finished'

/** Key of a deletion's own record: `["<id>"]`. */
export const deletionKey = (id: string): string => JSON.stringify([id])
/** Key of a result: `["<id>","<source>","<destination>","<user>"]`. */
export const deletionOutcomeKey = ({ request, source, destination, userId }: DeletionOutcome): string =>
  JSON.stringify([request, source, destination, userId])

/** @param parts the number of records of the deletion; `undefined` when it has only one record */
export function encodeDeletion({ createdAt, users, isSuppressed, sources }: DeletionRecord, parts?: number): JsonText {
  return JSON.stringify({ createdAt, users, suppressed: isSuppressed, sources, parts }) as JsonText
}

/** Maximum number of source and destination ids in a record, so that it stays below 500 KB. */
const maxIdsPerRecord = 5_000

/**
 * The records of a deletion, with the keys `["<id>"]`, `["<id>","2"]`, `["<id>","3"]` and so on.
 */
export function encodeDeletionParts(
  record: DeletionRecord,
): readonly { readonly key: string; readonly value: JsonText }[] {
  const parts = splitSources(record.sources)
  const count = parts.length === 1 ? undefined : parts.length
  return parts.map((sources, index) => ({
    key: index === 0 ? deletionKey(record.id) : JSON.stringify([record.id, String(index + 1)]),
    value: encodeDeletion({ ...record, sources }, count),
  }))
}

function splitSources(sources: DeletionRecord['sources']): readonly DeletionRecord['sources'][] {
  let last: DeletionRecord['sources'][number][] = []
  const parts = [last]
  let room = maxIdsPerRecord
  for (const { id, destinations } of sources) {
    let next = 0
    do {
      if (room < 2) {
        last = []
        parts.push(last)
        room = maxIdsPerRecord
      }
      const some = destinations.slice(next, next + room - 1)
      last.push({ id, destinations: some })
      next += some.length
      room -= 1 + some.length
    } while (next < destinations.length)
  }
  return parts
}

/** Merges the decoded parts of a deletion, in the order of `encodeDeletionParts`. */
export function mergeDeletionParts(parts: readonly [DeletionRecord, ...DeletionRecord[]]): DeletionRecord {
  const bySource = Map.groupBy(
    parts.flatMap(({ sources }) => sources),
    ({ id }) => id,
  )
  const sources = [...bySource].map(([id, each]) => ({ id, destinations: each.flatMap(it => it.destinations) }))
  return { ...parts[0], sources }
}

export const encodeDeletionOutcome = ({ result, reason }: DeletionOutcome): JsonText =>
  JSON.stringify({ result, reason }) as JsonText

/** The content of a record of the deletions topic. */
export type DeletionEntry =
  /** `record` is part number `part` of `parts`. The first part has the number 1. */
  | { readonly kind: 'request'; readonly record: DeletionRecord; readonly part: number; readonly parts: number }
  | { readonly kind: 'outcome'; readonly outcome: DeletionOutcome }

/** Parses a record of the deletions topic; `undefined` when it is in another format. */
export function decodeDeletion(key: string, value: string): DeletionEntry | undefined {
  const [names, fields] = [key, value].map(text => {
    const read = parseField(text, 'record')
    return read.kind === 'parsed' ? read.value : undefined
  })
  if (!Array.isArray(names) || !names.every(name => typeof name === 'string') || !isObject(fields)) return undefined
  const [request, source, destination, userId] = names
  if (names.length < 3 && request !== undefined) {
    const record = recordOf(request, fields)
    const { parts = 1 } = fields
    const part = Number(source ?? 1)
    if (record === undefined || !Number.isSafeInteger(parts) || !Number.isSafeInteger(part)) return undefined
    return { kind: 'request', record, part, parts: parts as number }
  }
  if (names.length !== 4 || request === undefined || source === undefined) return undefined
  if (destination === undefined || userId === undefined) return undefined
  const { result, reason } = fields
  if (!reportedResults.some(known => known === result)) return undefined
  const outcome = { request, source, destination, userId, result, reason } as DeletionOutcome
  return { kind: 'outcome', outcome }
}

function recordOf(id: string, fields: Readonly<Record<string, unknown>>): DeletionRecord | undefined {
  const { createdAt, users, suppressed, sources } = fields
  const isWhole = [createdAt, users].every(Number.isSafeInteger) && Array.isArray(sources) && sources.every(isSource)
  if (!isWhole) return undefined
  return {
    id,
    createdAt: epochMs(createdAt as number),
    users: users as number,
    isSuppressed: suppressed === true,
    sources: sources as DeletionRecord['sources'],
  }
}

const isSource = (value: unknown): boolean =>
  isObject(value) &&
  typeof value['id'] === 'string' &&
  Array.isArray(value['destinations']) &&
  value['destinations'].every(destination => typeof destination === 'string')
