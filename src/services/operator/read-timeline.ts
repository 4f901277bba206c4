import { decodeRecordedAttempt, type RecordedAttempt } from '../../core/delivery/attempt-details-and-recording-rule.ts'
import { parseDeliveryState } from '../../core/delivery/delivery-state.ts'
import type { Routing } from '../../core/delivery/route.ts'
import type { Commit, LogSession } from '../../core/log-session.ts'
import { partitionFor } from '../../core/message/partition-for-key.ts'
import { type MessageTimeline, messageTimeline, waitingRetryRecord } from '../../core/operator/message-timeline.ts'
import type { FoundDeadLetter, FoundEvent, FoundRetryRecord } from '../../core/operator/message-timeline-input.ts'
import type { MessageQuery } from '../../core/operator/message-timeline-query.ts'
import type { ReadBudget } from '../../core/operator/read-budget.ts'
import type { Clock, EventCodec } from '../../core/ports.ts'
import { parseCommit } from '../../core/progress/commit-metadata.ts'
import type { RecordedAttempts } from '../../core/settings/schema-of-attempts-topic.ts'
import { type EpochMs, epochMs } from '../../core/time.ts'
import type { TopicNames } from '../../core/topics.ts'
import { existingTiers, type RetryTiers } from './existing-retry-tiers.ts'
import { findEvents, type Place } from './find-events.ts'
import { readNewestFirst } from './read-newest-first.ts'
import type { DeadLetterReads } from './search-dead-letters-newest-first.ts'

export interface TimelineDeps extends RetryTiers {
  readonly topics: TopicNames
  readonly codec: EventCodec
  readonly clock: Pick<Clock, 'after'>
  readonly routing: () => Routing
  readonly recorded: RecordedAttempts
  readonly deadLetters: Pick<DeadLetterReads, 'search'>
}

/**
 * Maximum number of records of one message that are returned from each topic: the attempts topic,
 * the dead-letter topic, and each retry topic.
 */
const maxFound = 1_000

/**
 * Reads everything about a message: first the committed offsets, then the records. When a delivery
 * moves to another topic, Hookline writes the new record before it commits the old one. So if the
 * old record is committed, the later read finds the new one.
 */
export async function readTimeline(
  session: LogSession,
  deps: TimelineDeps,
  { id, typedId, since, until }: MessageQuery,
  budget: ReadBudget,
): Promise<MessageTimeline> {
  const { topics, recorded } = deps
  const tiers = await existingTiers(session, deps)
  const tierCommits = await Promise.all(tiers.map(tier => session.commits(topics.retriesGroup, topics.retry(tier))))
  const eventCommits = await session.commits(topics.dispatcherGroup, topics.events)

  const attempts = await readAttempts(session, deps, { id, since }, budget.share(0.4))
  const inDeadLetters = await deps.deadLetters.search(session, { messageId: id, since }, maxFound, budget.share(0.4))
  const retryRecords = await readRetryRecords(session, { topics, tiers }, { id, since, tierCommits }, budget.share(0.5))
  const origins = [
    ...attempts.found.flatMap(({ origin }) => origin ?? []),
    ...retryRecords.found.map(({ state }) => state.origin),
    ...inDeadLetters.found.flatMap(({ deadLetter }) => deadLetter.origin ?? []),
  ]
  const events = await findEvents(
    session,
    deps,
    { id, typedId, since, until, places: placesIn(topics.events, id, origins) },
    budget,
  )
  const foundEvents = events.found.map(
    (event): FoundEvent => ({
      ...event,
      progress: progressOf(event, eventCommits),
      isOlderThanAttempts: attempts.keptSince !== undefined && event.at < attempts.keptSince,
    }),
  )
  const reachesBack = events.found.every(({ at }) => at >= since)
  const isComplete = {
    attempts: attempts.isComplete && reachesBack,
    deadLetters: inDeadLetters.isComplete && reachesBack,
    retryRecords: retryRecords.isComplete,
  }
  return messageTimeline({
    ...{ id, recorded, isComplete },
    attempts: attempts.found,
    retryRecords: retryRecords.found,
    deadLetters: inDeadLetters.found.map(
      ({ deadLetter: { key, at, destination, reason, round }, partition, offset }): FoundDeadLetter => ({
        ...{ topic: topics.deadLetter, partition, offset, key, at, destination, reason, round },
      }),
    ),
    events: foundEvents,
    searchedSince: epochMs(Math.max(since, attempts.searchedSince ?? 0, events.searchedSince ?? 0)),
    isPartial: !(isComplete.attempts && isComplete.deadLetters && isComplete.retryRecords && events.isComplete),
    isEventRemoved: events.isRemoved,
  })
}

/**
 * The offsets of the message's event, according to its attempts, retry records and dead letters.
 */
function placesIn(
  topic: string,
  id: string,
  origins: readonly (Place & { readonly topic: string })[],
): readonly Place[] {
  // An event that was sent without a message id has its topic, partition and offset as its id.
  const own = id.startsWith(`${topic}/`) ? /^(\d{1,6})\/(\d{1,15})$/.exec(id.slice(topic.length + 1)) : null
  const named = [
    ...origins.filter(origin => origin.topic === topic),
    ...(own === null ? [] : [{ partition: Number(own[1]), offset: Number(own[2]) }]),
  ]
  return [...new Map(named.map(place => [`${place.partition}/${place.offset}`, place])).values()]
}

function progressOf({ partition, offset }: Place, commits: readonly Commit[]): FoundEvent['progress'] {
  const commit = commits[partition]
  if (commit === undefined) return undefined
  const from = Math.max(0, commit.offset)
  if (offset < from) return 'done'
  const { done, partlyDone } = parseCommit(from, commit.metadata)
  return done.has(offset) ? 'done' : (partlyDone.get(offset) ?? [])
}

interface FoundAttempts {
  readonly found: readonly RecordedAttempt[]
  readonly isComplete: boolean
  readonly searchedSince?: EpochMs | undefined
  /** Append time of the oldest record, if retention has removed older ones. */
  readonly keptSince?: EpochMs | undefined
}

async function readAttempts(
  session: LogSession,
  { topics, recorded }: TimelineDeps,
  { id, since }: MessageQuery,
  budget: ReadBudget,
): Promise<FoundAttempts> {
  if (recorded === 'off') return { found: [], isComplete: true }
  const topic = topics.attempts
  const key = Buffer.from(id)
  const [ranges, first] = await Promise.all([session.ranges(topic), session.offsetsSince(topic, since)])
  const partition = partitionFor(key, ranges.length)
  const { beginning, end } = ranges[partition] ?? { beginning: 0, end: 0 }
  const { found, isComplete, searchedSince } = await readNewestFirst(session, {
    ...{ topic, budget, limit: maxFound },
    parts: [{ partition, from: Math.max(beginning, first[partition] ?? 0), to: end }],
    select: record =>
      record.key?.equals(key) && record.value ? decodeRecordedAttempt(record.value.toString()) : undefined,
  })
  let keptSince: EpochMs | undefined
  if (beginning > 0) {
    keptSince = epochMs(Number.POSITIVE_INFINITY)
    const onRecord = ({ timestamp }: { readonly timestamp: EpochMs }): void => {
      keptSince = timestamp
    }
    if (end > beginning) await session.read({ topic, partition }, beginning, beginning + 1, onRecord)
  }
  return { found: found.map(({ item }) => item), isComplete, searchedSince, keptSince }
}

/** Reads the uncommitted retry records of a message: their deliveries still wait. */
async function readRetryRecords(
  session: LogSession,
  { topics, tiers }: Pick<TimelineDeps, 'topics' | 'tiers'>,
  { id, since, tierCommits }: MessageQuery & { readonly tierCommits: readonly (readonly Commit[])[] },
  budget: ReadBudget,
): Promise<{ readonly found: readonly FoundRetryRecord[]; readonly isComplete: boolean }> {
  const found: FoundRetryRecord[] = []
  let isComplete = true
  for (const [index, tier] of tiers.entries()) {
    const topic = topics.retry(tier)
    const commits = (tierCommits[index] ?? []).map(({ offset, metadata }) => {
      const from = Math.max(0, offset)
      return { from, done: parseCommit(from, metadata).done }
    })
    const [ranges, first] = await Promise.all([session.ranges(topic), session.offsetsSince(topic, since)])
    const parts = ranges.map(({ beginning, end }, partition) => ({
      ...{ partition, to: end },
      from: Math.max(beginning, first[partition] ?? 0, commits[partition]?.from ?? 0),
    }))
    const read = await readNewestFirst(session, {
      ...{ topic, parts, budget, limit: maxFound },
      select({ headers, timestamp, partition, offset }) {
        if (headers['message-id'] !== id || commits[partition]?.done.has(offset)) return undefined
        const state = parseDeliveryState(headers)
        return state && waitingRetryRecord({ topic, partition, offset }, timestamp, state, tier)
      },
    })
    found.push(...read.found.map(({ item }) => item))
    isComplete &&= read.isComplete
  }
  return { found, isComplete }
}
