import type { DeliveryState } from '../delivery/delivery-state.ts'
import { noDestination } from '../delivery/parse-dead-letter.ts'
import { isoOf } from '../message/timestamp.ts'
import { type DurationMs, type EpochMs, epochMs, formatDuration } from '../time.ts'
import { positionOf, type RecordPosition } from './dead-letter-view.ts'
import { type DestinationTimeline, type FoundForDestination, timelineOfDestination } from './destination-timeline.ts'
import type { FoundEvent, FoundRetryRecord, TimelineInput } from './message-timeline-input.ts'

export interface TimelineRecord extends RecordPosition {
  /** The timestamp of the record; ISO 8601, UTC. */
  readonly at: string
  readonly kind: 'event' | 'waiting' | 'dead_letter'
  readonly destination?: string | undefined
}

/** What happened to a message, as the operator API shows it. */
export interface MessageTimeline {
  readonly id: string
  readonly partial?: true | undefined
  readonly searchedSince: string
  /** The newest event with this id. */
  readonly event?:
    | {
        readonly sourceId: string
        readonly type: string
        readonly event?: string | undefined
        readonly receivedAt: string
        readonly position: RecordPosition
      }
    | undefined
  /** Present when retention has removed the event. */
  readonly eventRemoved?: true | undefined
  /** The records of the message in Kafka, oldest first. */
  readonly records: readonly TimelineRecord[]
  readonly destinations: readonly DestinationTimeline[]
}

export function messageTimeline(found: TimelineInput): MessageTimeline {
  const { id, attempts, retryRecords, deadLetters, events, isEventRemoved, isPartial, searchedSince } = found
  const newest = events.toSorted((a, b) => b.at - a.at || b.offset - a.offset)[0]
  const ids = new Set([
    ...(newest === undefined ? [] : [...newest.destinations, ...newest.drops.keys()]),
    ...attempts.map(({ destination }) => destination),
    ...retryRecords.map(({ state }) => state.destination),
    ...deadLetters.flatMap(({ destination }) => destination ?? []),
  ])
  const isRouted = newest !== undefined && newest.destinations.length + newest.drops.size > 0
  if (!isRouted && deadLetters.some(({ destination }) => destination === undefined)) ids.add(noDestination)
  return {
    id,
    ...(isPartial && { partial: true }),
    searchedSince: isoOf(searchedSince),
    ...(newest !== undefined && { event: shownEvent(newest) }),
    ...(isEventRemoved && { eventRemoved: true }),
    records: recordsOf(found),
    destinations: [...ids].sort().map(destination => timelineOfDestination(destination, forOne(found, destination))),
  }
}

const forOne = (found: TimelineInput, destination: string): FoundForDestination => ({
  attempts: found.attempts.filter(attempt => attempt.destination === destination),
  retryRecords: found.retryRecords.filter(({ state }) => state.destination === destination),
  deadLetters: found.deadLetters.filter(deadLetter => (deadLetter.destination ?? noDestination) === destination),
  unrouted: {
    retryRecords: found.retryRecords.filter(({ state }) => state.destination === noDestination),
    deadLetters: found.deadLetters.filter(deadLetter => deadLetter.destination === undefined),
  },
  events: found.events,
  isComplete: found.isComplete,
  recorded: found.recorded,
})

const shownEvent = ({ sourceId, type, event, receivedAt, ...position }: FoundEvent) => ({
  ...{ sourceId, type, event, receivedAt: isoOf(receivedAt) },
  position: positionOf(position),
})

function recordsOf({ events, retryRecords, deadLetters }: TimelineInput): readonly TimelineRecord[] {
  const all = [
    ...events.map(each => ({ ...each, kind: 'event' as const, destination: undefined })),
    ...retryRecords.map(each => ({ ...each, kind: 'waiting' as const, destination: each.state.destination })),
    ...deadLetters.map(each => ({ ...each, kind: 'dead_letter' as const })),
  ]
  return all
    .toSorted((a, b) => a.at - b.at || (a.topic < b.topic ? -1 : 1))
    .map(({ topic, partition, offset, at, kind, destination }) => ({
      ...{ topic, partition, offset, at: isoOf(at), kind },
      ...(destination !== undefined && { destination }),
    }))
}

/** Describes a record that waits in a retry topic. */
export function waitingRetryRecord(
  position: RecordPosition,
  at: EpochMs,
  state: DeliveryState,
  tier: DurationMs,
): FoundRetryRecord {
  const dueAt = epochMs(Math.max(at + tier, state.notBefore))
  return { ...positionOf(position), at, state, tier: formatDuration(tier), dueAt }
}
