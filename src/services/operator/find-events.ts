import { firstOrigin } from '../../core/delivery/replay-decision.ts'
import { type Routing, route } from '../../core/delivery/route.ts'
import type { LogSession, OffsetRange } from '../../core/log-session.ts'
import { type Event, normaliseEvent } from '../../core/message/event.ts'
import { messageIdAt } from '../../core/message/message-ids-and-required-identifiers.ts'
import type { FoundEvent } from '../../core/operator/message-timeline-input.ts'
import type { ReadBudget } from '../../core/operator/read-budget.ts'
import type { Clock, EventCodec, LogRecord } from '../../core/ports.ts'
import type { EpochMs } from '../../core/time.ts'
import type { TopicNames } from '../../core/topics.ts'
import { decodeInTime } from './decode-event-in-time.ts'
import { type Part, readNewestFirst } from './read-newest-first.ts'

export interface Place {
  readonly partition: number
  readonly offset: number
}

type EventOnLog = Omit<FoundEvent, 'progress' | 'isOlderThanAttempts'>

interface FoundEvents {
  readonly found: readonly EventOnLog[]
  readonly isComplete: boolean
  readonly searchedSince?: EpochMs | undefined
  /** Whether retention has removed an event at one of the requested places. */
  readonly isRemoved: boolean
}

interface Deps {
  readonly topics: Pick<TopicNames, 'events'>
  readonly codec: EventCodec
  readonly clock: Pick<Clock, 'after'>
  readonly routing: () => Routing
}

interface Wanted {
  readonly id: string
  readonly typedId?: string | undefined
  readonly since: EpochMs
  readonly until?: EpochMs | undefined
  readonly places: readonly Place[]
}

/**
 * Maximum number of records that a search decodes. Each of these records contains the id, but
 * perhaps in another field than the message id.
 */
const maxCandidates = 20

/**
 * Finds the events with a message id at the places (partition and offset) in `places`. If `places`
 * is empty, searches backwards for the newest event.
 */
export async function findEvents(
  session: LogSession,
  deps: Deps,
  wanted: Wanted,
  budget: ReadBudget,
): Promise<FoundEvents> {
  const ranges = await session.ranges(deps.topics.events)
  if (wanted.places.length > 0) return eventsAt(session, deps, wanted, ranges, budget)
  const { id, typedId } = wanted
  const stored = await newestEvent(session, deps, { ...wanted, text: id }, ranges, budget)
  if (stored.found.length > 0 || typedId === undefined) return stored
  const typed = await newestEvent(session, deps, { ...wanted, text: typedId }, ranges, budget)
  return { ...typed, isComplete: stored.isComplete && typed.isComplete }
}

async function eventsAt(
  session: LogSession,
  deps: Deps,
  { id, until, places }: Wanted,
  ranges: readonly OffsetRange[],
  budget: ReadBudget,
): Promise<FoundEvents> {
  const topic = deps.topics.events
  const records: LogRecord[] = []
  const isRemoved = places.some(({ partition, offset }) => offset < (ranges[partition]?.beginning ?? 0))
  for (const { partition, offset } of places.slice(0, maxCandidates)) {
    const { beginning, end } = ranges[partition] ?? { beginning: 0, end: 0 }
    if (offset < beginning || offset >= end) continue
    const record = await recordAt(session, topic, { partition, offset })
    if (record !== undefined) records.push(record)
  }
  const results = await Promise.all(records.map(record => eventIn(deps, record, id, budget)))
  const found = results
    .filter(result => typeof result === 'object')
    .filter(({ at }) => until === undefined || at < until)
  return { found, isComplete: places.length <= maxCandidates && !results.includes('no_schema'), isRemoved }
}

async function newestEvent(
  session: LogSession,
  deps: Deps,
  { id, text, since, until }: Wanted & { readonly text: string },
  ranges: readonly OffsetRange[],
  budget: ReadBudget,
): Promise<FoundEvents> {
  const topic = deps.topics.events
  const first = await session.offsetsSince(topic, since)
  const last = until === undefined ? undefined : await session.offsetsSince(topic, until)
  let parts: readonly Part[] = ranges.map(({ beginning, end }, partition) => ({
    partition,
    from: Math.max(beginning, first[partition] ?? 0),
    to: Math.min(end, last?.[partition] ?? end),
  }))
  // Avro texts are UTF-8, so the event contains these bytes. `select` does not return the values of
  // records: a short id may match every record, and the values would take much memory.
  const bytes = Buffer.from(text)
  const select = ({ value }: LogRecord) => (value?.includes(bytes) ? true : undefined)
  let searchedSince: EpochMs | undefined
  let isEachDecoded = true
  for (let candidates = 0; candidates < maxCandidates; candidates++) {
    const read = await readNewestFirst(session, { topic, parts, budget, limit: 1, select })
    ;({ searchedSince, unreadParts: parts } = read)
    const candidate = read.found[0]
    if (candidate === undefined)
      return { found: [], isComplete: read.isComplete && isEachDecoded, searchedSince, isRemoved: false }
    const record = await recordAt(session, topic, candidate)
    const event = record && (await eventIn(deps, record, id, budget))
    if (event === 'no_schema') isEachDecoded = false
    else if (event !== undefined)
      return { found: [event], isComplete: isEachDecoded, searchedSince: event.at, isRemoved: false }
  }
  return { found: [], isComplete: false, searchedSince, isRemoved: false }
}

/**
 * Returns `undefined` when the record has no event with this id; `no_schema` when the schema
 * registry does not respond in time.
 */
async function eventIn(
  deps: Deps,
  record: LogRecord,
  id: string,
  budget: ReadBudget,
): Promise<EventOnLog | 'no_schema' | undefined> {
  const { topic, partition, offset, timestamp, value } = record
  if (value === null) return undefined
  const first = firstOrigin(record)
  const decoded = await decodeInTime(deps, value, first.timestamp, budget.timeLeft)
  if (decoded === undefined) return 'no_schema'
  if (decoded.kind !== 'event') return undefined
  const event = normalised(decoded.event, messageIdAt(first))
  if (event?.message.messageId !== id) return undefined
  const { sourceId, receivedAt, message } = event
  const way = route(event, deps.routing())
  const [destinations, drops] = way.kind === 'deliver' ? [way.destinations, way.drops] : [[], []]
  return {
    ...{ topic, partition, offset, at: timestamp, sourceId, receivedAt },
    ...{ type: message.type, event: message.event },
    destinations: destinations.map(destination => destination.id),
    drops: new Map(
      drops.flatMap(({ destination, reason }) => (destination === undefined ? [] : [[destination, reason]])),
    ),
  }
}

function normalised(event: Event, newId: string): Event | undefined {
  if (event.canonical) return event
  const read = normaliseEvent(event, () => newId)
  return read.kind === 'event' ? read.event : undefined
}

/**
 * Reads a record. Copies its value, because the original would keep the whole fetch response in
 * memory.
 * @throws the KafkaError `OFFSET_OUT_OF_RANGE` when retention has removed the record
 */
async function recordAt(
  session: LogSession,
  topic: string,
  { partition, offset }: Place,
): Promise<LogRecord | undefined> {
  let found: LogRecord | undefined
  await session.read({ topic, partition }, offset, offset + 1, record => {
    found = { ...record, key: null, value: record.value && Buffer.from(record.value) }
  })
  return found
}
