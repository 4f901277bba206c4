import type { Command } from 'commander'
import { type DeadLetterReason, deadLetterReasons } from '../core/delivery/outcome.ts'
import {
  type DeadLetterFilter,
  type DeadLetterOutcome,
  deadLetterOutcomes,
  noDestination,
} from '../core/delivery/read-dead-letter.ts'
import type { Event } from '../core/message/event.ts'
import { parseTimestamp } from '../core/message/timestamp.ts'
import { countWithNoun, type EpochMs, epochMs, parseDuration } from '../core/units.ts'
import type { DeadLetterList, ListedDeadLetter } from '../services/operator/read-dead-letters.ts'
import { UsageError } from './command.ts'
import { closedOption } from './options.ts'
import { printable } from './terminal.ts'

/** The filter options, parsed by commander. */
export interface FilterOptions {
  readonly destination?: string
  readonly reason?: DeadLetterReason
  readonly outcome?: DeadLetterOutcome
  readonly since?: EpochMs
  readonly until?: EpochMs
  readonly messageId?: string
}

/** Adds the options that select dead letters. `filterOf` reads them. */
export function withFilterOptions(command: Command, now: EpochMs): Command {
  return command
    .option(
      '--destination <id>',
      `only dead letters of this destination; '${noDestination}' selects events without a destination`,
    )
    .addOption(closedOption('--reason', 'only dead letters with this reason', deadLetterReasons))
    .addOption(closedOption('--outcome', 'only dead letters for which a webhook had this outcome', deadLetterOutcomes))
    .option(
      '--since <time>',
      'only events dead-lettered at or after this time: ISO 8601, or a duration before now (2h)',
      timeOf('--since', now),
    )
    .option(
      '--until <time>',
      'only events dead-lettered before this time: ISO 8601, or a duration before now (2h)',
      timeOf('--until', now),
    )
    .option('--message-id <id>', 'only dead letters of this message; without --destination, of every destination')
}

/** Converts the options to a filter. @throws UsageError when --since is not before --until */
export function filterOf({ destination, reason, outcome, since, until, messageId }: FilterOptions): DeadLetterFilter {
  if (since !== undefined && until !== undefined && since >= until)
    throw new UsageError('--since must be before --until')
  return { destination, reason, outcome, since, until, messageId }
}

/** Returns a parser for a time: ISO 8601, or a duration before `now`. @throws UsageError */
export function timeOf(option: string, now: EpochMs): (text: string) => EpochMs {
  return text => {
    const ago = parseDuration(text)
    const time = ago === undefined ? parseTimestamp(text) : epochMs(now - ago)
    if (time !== undefined) return time
    throw new UsageError(
      `${option} must be a time in ISO 8601 (2026-03-01T10:00:00Z) or a duration before now (2h), not '${text}'`,
    )
  }
}

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

/** The JSON document of a dead letter. Times are in ISO 8601; unknown values are null. */
export function documentOf({ event, ...deadLetter }: ListedDeadLetter): object {
  const { at, startedAt, deadline, origin } = deadLetter
  return withNulls({
    ...deadLetter,
    at: isoOf(at),
    startedAt: startedAt && isoOf(startedAt),
    deadline: deadline && isoOf(deadline),
    origin: origin && { ...origin, timestamp: isoOf(origin.timestamp) },
    event: event && eventDocument(event),
  })
}

function eventDocument(event: Event): object {
  const { message, receivedAt } = event
  const parts = (['properties', 'traits', 'context', 'integrations'] as const).map(name => [
    name,
    parsed(message[name]),
  ])
  return {
    ...event,
    receivedAt: isoOf(receivedAt),
    message: { ...message, timestamp: isoOf(message.timestamp), ...Object.fromEntries(parts) },
  }
}

/** Parses JSON. Invalid JSON, which another producer may write, is returned as text. */
function parsed(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text)
  } catch {
    return text
  }
}

const withNulls = (object: Record<string, unknown>): object =>
  Object.fromEntries(Object.entries(object).map(([name, value]) => [name, value ?? null]))

/** A time in ISO 8601, or the number itself when another producer wrote an invalid timestamp. */
function isoOf(time: EpochMs): string {
  const date = new Date(time)
  return Number.isNaN(date.getTime()) ? String(time) : date.toISOString()
}

/** The totals: `12 dead letters, 3 selected, newest 2 shown: http_4xx 2, undecodable 1` */
export function countsOf({ total, selected, deadLetters, byReason }: DeadLetterList): string {
  const shown = deadLetters.length
  const parts = [
    total === 0 ? 'no dead letters' : countWithNoun(total, 'dead letter'),
    ...(selected < total ? [`${selected} selected`] : []),
    ...(shown < selected ? [`newest ${shown} shown`] : []),
  ].join(', ')
  const reasons = [...byReason]
    .sort(([a, countOfA], [b, countOfB]) => countOfB - countOfA || (a < b ? -1 : 1))
    .map(([reason, count]) => `${reason || '-'} ${count}`)
  return printable(reasons.length === 0 ? parts : `${parts}: ${reasons.join(', ')}`)
}
