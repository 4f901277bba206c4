import type { LogRecord } from '../../../src/core/ports.ts'
import { parseDuration } from '../../../src/core/time.ts'
import { tiersOf } from '../../../src/core/topics.ts'
import type { Span } from './job-load.ts'
import type { JobRecords } from './jobs-verdict.ts'
import { targetOf } from './message-ledger.ts'
import type { JobsScenario } from './scenario.ts'
import type { World } from './world.ts'

export interface RecordsRead {
  /** Each timestamp is in ms since 1970. */
  readonly events: readonly { readonly id: string; readonly timestamp: number }[]
  readonly deadLetters: readonly Pick<LogRecord, 'key' | 'value' | 'headers'>[]
  readonly retries: readonly Pick<LogRecord, 'headers' | 'timestamp'>[]
}

export interface CountedRecords {
  /** By `<destination> <message id>`. */
  readonly records: ReadonlyMap<string, JobRecords>
  /**
   * Times of writes to retry topics, by `<destination> <message id>`, in ms of `performance.now()`.
   */
  readonly moved: ReadonlyMap<string, { readonly writtenAt: readonly number[] }>
}

export async function recordsOfJobs(
  { installation }: World,
  scenario: JobsScenario,
  spans: readonly Span[],
): Promise<CountedRecords> {
  const { topics, codec } = installation
  const events = (await installation.read(topics.events)).flatMap(({ value, timestamp }) => {
    const decoded = value === null ? undefined : codec.decode(value, timestamp)
    return decoded?.kind === 'event' ? [{ id: decoded.event.message.messageId, timestamp }] : []
  })
  const deadLetters = await installation.read(topics.deadLetter)
  const retries: LogRecord[] = []
  for (const tier of tiersOf(scenario.delivery.schedule.flatMap(text => parseDuration(text) ?? [])))
    retries.push(...(await installation.read(topics.retry(tier))))
  return countRecords({ events, deadLetters, retries }, scenario, spans)
}

/**
 * Counts the records of each delivery. Dead letters with the same key are one dead letter that was
 * written twice, so a job must copy it only once.
 */
export function countRecords(
  { events, deadLetters, retries }: RecordsRead,
  { destinations, jobs }: Pick<JobsScenario, 'destinations' | 'jobs'>,
  spans: readonly Span[],
): CountedRecords {
  const records = new Map<string, { events: number; copies: number; due: number }>()
  const moved = new Map<string, { writtenAt: number[] }>()
  for (const { id, timestamp } of events)
    for (const { id: destination } of destinations) {
      const target = targetOf({ id, destination })
      const known = records.get(target) ?? { events: 0, copies: 0, due: 0 }
      const isIn = ({ since, until }: Span): boolean => timestamp >= since && timestamp < until
      const due = destination === jobs.resent ? spans.filter(isIn).length : 0
      records.set(target, { ...known, events: known.events + 1, due: known.due + due })
    }
  const letters = deadLetters.filter(({ value }) => value !== null)
  for (const letter of new Map(letters.map(each => [each.key?.toString(), each])).values()) {
    const known = records.get(targetIn(letter))
    if (known !== undefined) known.due++
  }
  for (const record of retries) {
    const target = targetIn(record)
    const known = records.get(target)
    if (isCopyOfJob(record) && known !== undefined) known.copies++
    else {
      const writtenAt = moved.get(target)?.writtenAt ?? []
      moved.set(target, { writtenAt: [...writtenAt, record.timestamp - performance.timeOrigin] })
    }
  }
  return { records, moved }
}

/** Dispatchers write a reason into each record of a retry topic. Jobs write none. */
const isCopyOfJob = ({ headers }: Pick<LogRecord, 'headers'>): boolean => (headers['reason'] ?? '') === ''

const targetIn = ({ headers }: Pick<LogRecord, 'headers'>): string =>
  targetOf({ destination: headers['destination'] ?? '', id: headers['message-id'] ?? '' })
