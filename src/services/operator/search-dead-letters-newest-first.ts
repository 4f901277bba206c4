import { type DeadLetterFilter, matches } from '../../core/delivery/dead-letter-filter.ts'
import { type DeadLetter, parseDeadLetter } from '../../core/delivery/parse-dead-letter.ts'
import type { LogSession, OffsetRange } from '../../core/log-session.ts'
import { partitionFor } from '../../core/message/partition-for-key.ts'
import { DeadLetterIndex } from '../../core/operator/dead-letter-index.ts'
import { cursorOf, type DeadLetterQuery } from '../../core/operator/dead-letter-query.ts'
import { deadLetterView, type ShownEvent } from '../../core/operator/dead-letter-view.ts'
import type { DeadLetterPage } from '../../core/operator/message-and-dead-letter-api.ts'
import type { ReadBudget } from '../../core/operator/read-budget.ts'
import type { EventCodec, LogRecord } from '../../core/ports.ts'
import { durationMs, type EpochMs, epochMs } from '../../core/time.ts'
import { createDeadLetterKeys, type DeadLetterKeys } from './fill-dead-letter-index.ts'
import { type NewestFirst, type Part, readNewestFirst } from './read-newest-first.ts'

/**
 * A dead letter that a search has found. It is the last record of its key: a replay would have
 * written a tombstone after it.
 */
export interface LiveDeadLetter {
  readonly deadLetter: DeadLetter
  readonly event: ShownEvent
  readonly partition: number
  readonly offset: number
}

export interface DeadLetterReads {
  page(session: LogSession, query: DeadLetterQuery, budget: ReadBudget): Promise<DeadLetterPage>
  search(session: LogSession, filter: DeadLetterFilter, limit: number, budget: ReadBudget): Promise<Search>
  /**
   * Finds the dead letter of a key. `isComplete` is false when the budget was spent before the
   * record was found.
   */
  find(session: LogSession, key: string, budget: ReadBudget): Promise<FoundKey>
}

interface Search {
  readonly found: readonly LiveDeadLetter[]
  readonly isComplete: boolean
}

interface FoundKey {
  readonly record: LogRecord | undefined
  readonly isComplete: boolean
}

interface Deps {
  readonly topic: string
  readonly codec: Pick<EventCodec, 'decode' | 'learn'>
  readonly index?: DeadLetterIndex
}

/**
 * A dead letter that was read. Its `key` is a copy: the original would keep a fetch response in
 * memory.
 */
interface Read {
  readonly deadLetter: DeadLetter
  readonly event: ShownEvent
  readonly key: Buffer
}

/**
 * Creates functions that read the dead-letter topic backwards. They find only the last record of
 * each key; `index` has the offset of this record.
 */
export function createDeadLetterReads({ topic, codec, index = new DeadLetterIndex() }: Deps): DeadLetterReads {
  const eventOf = createShownEvents(codec)
  const keys = createDeadLetterKeys({ topic, index })

  async function read(
    session: LogSession,
    { filter, limit, before }: DeadLetterQuery,
    budget: ReadBudget,
  ): Promise<NewestFirst<Read>> {
    const { ranges, isComplete: isFollowed } = await keys.follow(session, budget)
    const parts = await partsOf(session, topic, { ranges, filter, before })
    if (!isFollowed || !(await keys.reach(session, parts, budget)))
      return { found: [], isComplete: false, unreadParts: parts, searchedSince: undefined }
    const keyNotes = keys.createKeyNotes()
    return readNewestFirst(session, {
      ...{ topic, parts, budget, limit },
      select(record) {
        const key = keyNotes.add(record)
        if (key === undefined || record.value === null) return undefined
        const deadLetter = parseDeadLetter(record)
        return matches(deadLetter, filter) ? { deadLetter, key, event: eventOf(record, deadLetter) } : undefined
      },
      onChunk: keyNotes.end,
      isWanted: ({ item, partition, offset }) => (index.offsetOf(partition, item.key) ?? offset) === offset,
    })
  }

  return {
    async page(session, query, budget) {
      const { found, isComplete, unreadParts } = await read(session, query, budget)
      return {
        deadLetters: found.map(({ item }) => deadLetterView(item.deadLetter, item.event)),
        ...(!isComplete && { next: cursorOf(unreadParts.map(({ from, to }) => Math.max(from, to))) }),
        ...((index.isFull || (!isComplete && found.length < query.limit)) && { partial: true as const }),
      }
    },
    async search(session, filter, limit, budget) {
      const { found, isComplete } = await read(session, { filter, limit, before: undefined }, budget)
      const live = found.map(({ item: { deadLetter, event }, partition, offset }) => ({
        ...{ deadLetter, event, partition, offset },
      }))
      return { found: live, isComplete: isComplete && !index.isFull }
    },
    async find(session, key, budget) {
      const { ranges, isComplete } = await keys.follow(session, budget)
      if (!isComplete) return { record: undefined, isComplete }
      return findKey(session, { topic, index, keys, ranges, key }, budget)
    },
  }
}

async function partsOf(
  session: LogSession,
  topic: string,
  wanted: {
    readonly ranges: readonly OffsetRange[]
    readonly filter: Pick<DeadLetterFilter, 'since' | 'until'>
    readonly before?: readonly number[] | undefined
  },
): Promise<readonly Part[]> {
  const { ranges, filter, before } = wanted
  const { since, until } = filter
  const first = since === undefined ? undefined : await session.offsetsSince(topic, since)
  const last = until === undefined ? undefined : await session.offsetsSince(topic, until)
  return ranges.map(({ beginning, end }, partition) => ({
    partition,
    from: Math.max(beginning, first?.[partition] ?? 0),
    // A partition missing in `before` was added after the previous page was read. Its dead letters
    // are newer than that page, so they are left out.
    to: Math.min(end, last?.[partition] ?? end, before === undefined ? end : (before[partition] ?? 0)),
  }))
}

/**
 * Finds the last record of a key. The index keeps the keys that were read, so a repeated request
 * continues where the previous one stopped.
 */
async function findKey(
  session: LogSession,
  wanted: {
    readonly topic: string
    readonly index: DeadLetterIndex
    readonly keys: Pick<DeadLetterKeys, 'createKeyNotes'>
    readonly ranges: readonly OffsetRange[]
    readonly key: string
  },
  budget: ReadBudget,
): Promise<FoundKey> {
  const { topic, index, keys, ranges } = wanted
  const key = Buffer.from(wanted.key)
  const parts = await partsOf(session, topic, { ranges, filter: { since: appendedAfter(wanted.key) } })
  // If the index has the key, only its record is read. Otherwise, the partition that the key's hash
  // selects is searched first, then all others: they can have the record if partitions were added.
  const known = parts.flatMap(part => {
    const offset = index.offsetOf(part.partition, key)
    // Kafka may have deleted the record since its key was read.
    if (offset === undefined || offset < (ranges[part.partition]?.beginning ?? 0)) return []
    return [{ ...part, from: offset, to: offset + 1 }]
  })
  const computed = partitionFor(key, ranges.length)
  // If the index lacks the key, the record of the key is before `indexedFrom`. But an index that has
  // reached its maximum size may lack any key, so everything is searched.
  const unknown = parts.map(part => ({
    ...part,
    to: index.isFull ? part.to : Math.min(part.to, index.indexedFrom(part.partition)),
  }))
  const searches =
    known.length > 0
      ? [known.slice(0, 1)]
      : [
          unknown.filter(({ partition }) => partition === computed),
          unknown.filter(({ partition }) => partition !== computed),
        ]
  for (const search of searches) {
    const keyNotes = keys.createKeyNotes()
    const { found, isComplete } = await readNewestFirst(session, {
      ...{ topic, budget, limit: 1, parts: search },
      select(record) {
        keyNotes.add(record)
        return record.key?.equals(key)
          ? { ...record, key, value: record.value && Buffer.from(record.value) }
          : undefined
      },
      onChunk: keyNotes.end,
    })
    const record = found[0]?.item
    if (record !== undefined) return { record: record.value === null ? undefined : record, isComplete: true }
    if (!isComplete) return { record: undefined, isComplete }
  }
  return { record: undefined, isComplete: true }
}

/**
 * Maximum time by which a dead letter can seem older than its event, because brokers' clocks
 * differ.
 */
const clockMargin = durationMs(600_000)

/**
 * A lower bound of the append time of the dead letter with this key; `undefined` if the key has no
 * timestamp.
 */
function appendedAfter(key: string): EpochMs | undefined {
  const timestamp = Number(/\/(\d{1,15})\/\d+$/.exec(key)?.[1])
  return Number.isNaN(timestamp) ? undefined : epochMs(Math.max(0, timestamp - clockMargin))
}

/**
 * Reads the source and type of events; returns neither if an event cannot be decoded. An unknown
 * schema is fetched in the background, so that later requests can decode the event.
 */
function createShownEvents(codec: Deps['codec']) {
  const asked = new Set<number>()
  return ({ value, timestamp }: LogRecord, { origin }: DeadLetter): ShownEvent => {
    if (value === null) return {}
    const decoded = codec.decode(value, origin?.timestamp ?? timestamp)
    if (decoded.kind === 'event') return { sourceId: decoded.event.sourceId, type: decoded.event.message.type }
    if (decoded.kind === 'schema_needed' && !asked.has(decoded.schemaId)) {
      asked.add(decoded.schemaId)
      codec.learn(decoded.schemaId).catch(() => asked.delete(decoded.schemaId))
    }
    return {}
  }
}
