import { performance } from 'node:perf_hooks'
import type { LogRecord, RecordHeaders } from '../../../src/core/ports.ts'
import { parseDuration } from '../../../src/core/time.ts'
import { tiersOf } from '../../../src/core/topics.ts'
import { idHeader } from './load-with-invalid-records.ts'
import { targetOf } from './message-ledger.ts'
import type { Place, RetryRecords } from './order-verdict.ts'
import { reached } from './poll-until-reached.ts'
import type { World } from './world.ts'

/*
 * Reads the records that are in Kafka after a run. A target is the text `<destination> <message
 * id>`.
 */

/** Describes each partition whose committed offset differs from its end offset. */
export async function uncommitted({ view, installation }: Pick<World, 'view' | 'installation'>): Promise<string[]> {
  const { dispatcherGroup, events } = installation.topics
  const [committed, ends] = [await view.committed(dispatcherGroup, events), await view.ends(events)]
  return [...ends].flatMap(([partition, end]) => {
    const offset = committed.get(partition) ?? 0
    return offset === end ? [] : [`partition ${partition} ends at ${end} and is committed up to ${offset}`]
  })
}

const lookEveryMs = 250

/**
 * Resolves when every acknowledged invalid record has a dead letter. Call it before the processes
 * stop, because they may still wait for the schema of a record.
 */
export async function invalidDeadLettered({ installation, ledger }: World, patienceMs: number): Promise<void> {
  const left = new Set(ledger.bad.filter(({ acknowledged }) => acknowledged).map(({ id }) => id))
  const areWritten = async (): Promise<boolean> => {
    if (left.size > 0)
      for (const { headers } of await installation.read(installation.topics.deadLetter))
        left.delete(headers[idHeader] ?? '')
    return left.size === 0
  }
  await reached(areWritten, { everyMs: lookEveryMs, patienceMs })
}

/** Reads the reason of each dead-lettered delivery, by `<destination> <message id>`. */
export async function deadLetters({ installation }: World): Promise<ReadonlyMap<string, string>> {
  const records = await installation.read(installation.topics.deadLetter)
  return new Map(records.map(({ headers }) => [targetIn(headers), headers['reason'] ?? 'none']))
}

export interface Retries {
  /**
   * Targets with a retry record whose offset is not committed. This record explains a missing
   * delivery.
   */
  readonly waiting: ReadonlySet<string>
  /** All records that were written to the retry topics, by `<destination> <message id>`. */
  readonly retried: ReadonlyMap<string, RetryRecords>
  readonly records: number
}

export async function retriesOf(
  { installation, view }: Pick<World, 'installation' | 'view'>,
  schedule: readonly string[],
): Promise<Retries> {
  const { topics } = installation
  const waiting = new Set<string>()
  const retried = new Map<string, RetryRecords>()
  let records = 0
  for (const tier of tiersOf(schedule.flatMap(text => parseDuration(text) ?? []))) {
    const topic = topics.retry(tier)
    const committed = await view.committed(topics.retriesGroup, topic)
    await installation.readEach(topic, record => {
      const target = targetIn(record.headers)
      records++
      retried.set(target, withRecord(retried.get(target), record))
      if (record.offset >= (committed.get(record.partition) ?? 0)) waiting.add(target)
    })
  }
  return { waiting, retried, records }
}

function withRecord(summary: RetryRecords | undefined, { headers, timestamp }: LogRecord): RetryRecords {
  const attempts = Number(headers['attempt'])
  return {
    minAttempts: Math.min(attempts, summary?.minAttempts ?? attempts),
    maxAttempts: Math.max(attempts, summary?.maxAttempts ?? attempts),
    writtenAt: [...(summary?.writtenAt ?? []), timestamp - performance.timeOrigin],
  }
}

/**
 * Reads the position of each message on the events topic, by message id. Invalid records are left
 * out.
 */
export async function placesOf({ installation }: Pick<World, 'installation'>): Promise<ReadonlyMap<string, Place>> {
  const places = new Map<string, Place>()
  await installation.readEach(installation.topics.events, ({ partition, offset, key, value, timestamp }) => {
    const decoded = value === null ? undefined : installation.codec.decode(value, timestamp)
    if (decoded?.kind !== 'event') return
    const id = decoded.event.message.messageId
    const known = places.get(id)
    places.set(
      id,
      known === undefined
        ? { partition, offset, key: key?.toString() ?? '', copies: 1, writtenAt: timestamp - performance.timeOrigin }
        : { ...known, copies: known.copies + 1 },
    )
  })
  return places
}

const targetIn = (headers: RecordHeaders): string =>
  targetOf({ destination: headers['destination'] ?? '', id: headers['message-id'] ?? '' })
