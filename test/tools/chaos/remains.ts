import { performance } from 'node:perf_hooks'
import type { LogRecord, RecordHeaders } from '../../../src/core/ports.ts'
import { tiersOf } from '../../../src/core/topics.ts'
import { parseDuration } from '../../../src/core/units.ts'
import { targetOf } from './ledger.ts'
import type { Place, RetryRecords } from './order.ts'
import type { World } from './world.ts'

/* What lies in Kafka after the end. Targets are `<destination> <message id>`. */

/** After an orderly end everything that was read is done, and so committed. */
export async function uncommitted({ view, pipeline }: Pick<World, 'view' | 'pipeline'>): Promise<string[]> {
  const { dispatcherGroup, events } = pipeline.topics
  const [committed, ends] = [await view.committed(dispatcherGroup, events), await view.ends(events)]
  return [...ends].flatMap(([partition, end]) => {
    const offset = committed.get(partition) ?? 0
    return offset === end ? [] : [`partition ${partition} ends at ${end} and is committed up to ${offset}`]
  })
}

/** Targets that were given up, and why. */
export async function deadLetters({ pipeline }: World): Promise<ReadonlyMap<string, string>> {
  const records = await pipeline.read(pipeline.topics.deadLetter)
  return new Map(records.map(({ headers }) => [targetIn(headers), headers['reason'] ?? 'none']))
}

/** What the retry topics have. */
export interface Retries {
  /** Records beyond the group's commit. A record that the group has passed is no excuse for a missing delivery. */
  readonly parked: ReadonlySet<string>
  /** All that was ever written to them. */
  readonly retried: ReadonlyMap<string, RetryRecords>
  readonly records: number
}

export async function retriesOf({ pipeline, view }: World, schedule: readonly string[]): Promise<Retries> {
  const { topics } = pipeline
  const parked = new Set<string>()
  const written = new Map<string, LogRecord[]>()
  let records = 0
  for (const tier of tiersOf(schedule.flatMap(text => parseDuration(text) ?? []))) {
    const topic = topics.retry(tier)
    const committed = await view.committed(topics.retriesGroup, topic)
    for (const record of await pipeline.read(topic)) {
      const target = targetIn(record.headers)
      records++
      written.set(target, [...(written.get(target) ?? []), record])
      if (record.offset >= (committed.get(record.partition) ?? 0)) parked.add(target)
    }
  }
  return { parked, retried: new Map([...written].map(([target, all]) => [target, retryRecords(all)])), records }
}

/** What the records of one target in the retry topics say. */
function retryRecords(records: readonly LogRecord[]): RetryRecords {
  const attempts = records.map(({ headers }) => Number(headers['attempt']))
  return {
    fewest: Math.min(...attempts),
    most: Math.max(...attempts),
    writtenAt: records.map(({ timestamp }) => timestamp - performance.timeOrigin),
  }
}

/** Where each message is on the events topic, by its id; records that are no events are left out. */
export async function placesOf({ pipeline }: Pick<World, 'pipeline'>): Promise<ReadonlyMap<string, Place>> {
  const places = new Map<string, Place>()
  for (const { partition, offset, key, value, timestamp } of await pipeline.read(pipeline.topics.events)) {
    const decoded = value === null ? undefined : pipeline.codec.decode(value, timestamp)
    if (decoded?.kind !== 'event') continue
    const id = decoded.event.message.messageId
    const known = places.get(id)
    places.set(
      id,
      known === undefined
        ? { partition, offset, key: key?.toString() ?? '', copies: 1 }
        : { ...known, copies: known.copies + 1 },
    )
  }
  return places
}

const targetIn = (headers: RecordHeaders): string =>
  targetOf({ destination: headers['destination'] ?? '', id: headers['message-id'] ?? '' })
