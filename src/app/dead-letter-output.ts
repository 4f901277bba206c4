import { countWithNoun } from '../core/count-with-noun.ts'
import { noDestination } from '../core/delivery/parse-dead-letter.ts'
import { isoOf } from '../core/message/timestamp.ts'
import { eventViewOf } from '../core/operator/event-view.ts'
import type { DeadLetterList, ListedDeadLetter } from '../services/operator/visit-and-list-dead-letters.ts'
import { printable } from './terminal-table-and-progress-bar.ts'

/** The column titles for the cells of `rowOf`. */
export const deadLetterTitles = [
  'TIME',
  'DESTINATION',
  'REASON',
  'OUTCOMES',
  'MESSAGE',
  'TYPE',
  'ATTEMPTS',
  'ORIGIN',
  'KEY',
]

export function rowOf(deadLetter: ListedDeadLetter): readonly string[] {
  const { at, destination, reason, outcomes, messageId, event, attempts, origin, key } = deadLetter
  return [
    isoOf(at),
    destination ?? noDestination,
    reason || '-',
    outcomes.join(',') || '-',
    messageId ?? '-',
    event?.message.type ?? '-',
    String(attempts ?? '-'),
    origin === undefined ? '-' : `${origin.topic}/${origin.partition}/${origin.offset}`,
    key,
  ]
}

/** The JSON document of a dead letter. Unknown values are null. */
export function documentOf({ event, ...deadLetter }: ListedDeadLetter): object {
  const { at, startedAt, deadline, origin } = deadLetter
  return withNulls({
    ...deadLetter,
    at: isoOf(at),
    startedAt: startedAt && isoOf(startedAt),
    deadline: deadline && isoOf(deadline),
    origin: origin && { ...origin, timestamp: isoOf(origin.timestamp) },
    event: event && eventViewOf(event),
  })
}

const withNulls = (object: Record<string, unknown>): object =>
  Object.fromEntries(Object.entries(object).map(([name, value]) => [name, value ?? null]))

/**
 * The totals, for example
 * `12 dead letters, 3 selected: http_4xx 2, undecodable 1; only the newest 2 shown`.
 */
export function countsOf({ total, selected, deadLetters, byReason }: DeadLetterList): string {
  const shown = deadLetters.length
  const parts = [
    total === 0 ? 'no dead letters' : countWithNoun(total, 'dead letter'),
    ...(selected < total ? [`${selected} selected`] : []),
  ].join(', ')
  const counts = withReasons(parts, byReason)
  return shown < selected ? `${counts}; only the newest ${shown} shown` : counts
}

/** Appends the count for each reason, for example `12 dead letters: http_4xx 10, undecodable 2`. */
export function withReasons(text: string, byReason: ReadonlyMap<string, number>): string {
  const reasons = [...byReason]
    .sort(([a, countOfA], [b, countOfB]) => countOfB - countOfA || (a < b ? -1 : 1))
    .map(([reason, count]) => `${reason || '(no reason)'} ${count}`)
  return printable(reasons.length === 0 ? text : `${text}: ${reasons.join(', ')}`)
}
