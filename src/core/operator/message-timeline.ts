import type { DeliveryState } from '../delivery/delivery-state.ts'
import { noDestination } from '../delivery/parse-dead-letter.ts'
import { isoOf } from '../message/timestamp.ts'
import { type DurationMs, type EpochMs, epochMs, formatDuration } from '../time.ts'
import { type LogPlace, placeOf } from './dead-letter-view.ts'
import { type DestinationTimeline, type FoundForDestination, timelineOfDestination } from './destination-timeline.ts'
import type { FoundCopy, FoundEvent, TimelineInput } from './records-found-for-timeline.ts'

export interface TimelineRecord extends LogPlace {
  /** In ISO 8601, UTC. */
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
        readonly position: LogPlace
      }
    | undefined
  /** Present when retention has removed the event. */
  readonly eventRemoved?: true | undefined
  /** The records of the message in Kafka, oldest first. */
  readonly records: readonly TimelineRecord[]
  readonly destinations: readonly DestinationTimeline[]
}

export function messageTimeline(found: TimelineInput): MessageTimeline {
  const { id, attempts, copies, deadLetters, events, isEventRemoved, isPartial, searchedSince } = found
  const newest = events.toSorted((a, b) => b.at - a.at || b.offset - a.offset)[0]
  const ids = new Set([
    ...(newest === undefined ? [] : [...newest.destinations, ...newest.drops.keys()]),
    ...attempts.map(({ destination }) => destination),
    ...copies.map(({ state }) => state.destination),
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
  copies: found.copies.filter(({ state }) => state.destination === destination),
  deadLetters: found.deadLetters.filter(deadLetter => (deadLetter.destination ?? noDestination) === destination),
  unrouted: {
    copies: found.copies.filter(({ state }) => state.destination === noDestination),
    deadLetters: found.deadLetters.filter(deadLetter => deadLetter.destination === undefined),
  },
  events: found.events,
  isComplete: found.isComplete,
  recorded: found.recorded,
})

const shownEvent = ({ sourceId, type, event, receivedAt, ...place }: FoundEvent) => ({
  ...{ sourceId, type, event, receivedAt: isoOf(receivedAt) },
  position: placeOf(place),
})

function recordsOf({ events, copies, deadLetters }: TimelineInput): readonly TimelineRecord[] {
  const all = [
    ...events.map(each => ({ ...each, kind: 'event' as const, destination: undefined })),
    ...copies.map(each => ({ ...each, kind: 'waiting' as const, destination: each.state.destination })),
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
export function waitingCopy(place: LogPlace, at: EpochMs, state: DeliveryState, tier: DurationMs): FoundCopy {
  const dueAt = epochMs(Math.max(at + tier, state.notBefore))
  return { ...placeOf(place), at, state, tier: formatDuration(tier), dueAt }
}
