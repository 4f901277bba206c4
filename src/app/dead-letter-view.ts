import type { Command } from 'commander'
import {
  type DeadLetterFilter,
  type DeadLetterOutcome,
  deadLetterOutcomes,
  noDestination,
} from '../core/delivery/dead-letter.ts'
import { type DeadLetterReason, deadLetterReasons } from '../core/delivery/outcome.ts'
import type { Event } from '../core/message/event.ts'
import { parseTimestamp } from '../core/message/timestamp.ts'
import { type EpochMs, epochMs, parseDuration } from '../core/units.ts'
import type { DeadLetterList, ListedDeadLetter } from '../services/operator/read-dead-letters.ts'
import { UsageError } from './command.ts'
import { closedOption } from './options.ts'
import { printable } from './terminal.ts'

/** What commander makes of the options. */
export interface FilterOptions {
  readonly destination?: string
  readonly reason?: DeadLetterReason
  readonly outcome?: DeadLetterOutcome
  readonly since?: EpochMs
  readonly until?: EpochMs
  readonly messageId?: string
}

/** Adds the options that say which dead letters are meant; `filterOf` reads them. */
export function withFilterOptions(command: Command, now: EpochMs): Command {
  return command
    .option('--destination <id>', `of this destination; ${noDestination} for those that never had one`)
    .addOption(closedOption('--reason', 'given up for this reason', deadLetterReasons))
    .addOption(closedOption('--outcome', 'with this among the outcomes of its webhooks', deadLetterOutcomes))
    .option('--since <time>', 'given up at this time or later: ISO 8601, or so long ago (2h)', timeOf('--since', now))
    .option('--until <time>', 'given up before this time', timeOf('--until', now))
    .option('--message-id <id>', 'of this message; alone: for every destination')
}

/** @throws UsageError when the times leave nothing between them. */
export function filterOf({ destination, reason, outcome, since, until, messageId }: FilterOptions): DeadLetterFilter {
  if (since !== undefined && until !== undefined && since >= until)
    throw new UsageError('--since must be before --until')
  return { destination, reason, outcome, since, until, messageId }
}

/** A point in time, typed as one or as how long ago it was. @throws UsageError */
export function timeOf(option: string, now: EpochMs): (text: string) => EpochMs {
  return text => {
    const ago = parseDuration(text)
    const time = ago === undefined ? parseTimestamp(text) : epochMs(now - ago)
    if (time !== undefined) return time
    throw new UsageError(
      `${option} must be a time in ISO 8601 (2026-03-01T10:00:00Z) or so long ago (2h), not '${text}'`,
    )
  }
}

/** One for each cell of `rowOf`. */
export const titles = ['TIME', 'DESTINATION', 'REASON', 'OUTCOMES', 'MESSAGE', 'TYPE', 'ATTEMPTS', 'ORIGIN', 'KEY']

/** A dead letter as a row of a table. */
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

/** A dead letter as `--json` prints it: everything known, times in ISO 8601; what is not known is null. */
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

/** What a foreign producer wrote may be no JSON: then it is shown as the text that it is. */
function parsed(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text)
  } catch {
    return text
  }
}

const withNulls = (object: Record<string, unknown>): object =>
  Object.fromEntries(Object.entries(object).map(([name, value]) => [name, value ?? null]))

/** Kafka's mark for no timestamp is -1; a foreign producer may write any number. */
function isoOf(time: EpochMs): string {
  const date = new Date(time)
  return Number.isNaN(date.getTime()) ? String(time) : date.toISOString()
}

/** `12 dead letters, 3 selected, the newest 2 shown: http_4xx 2, undecodable 1` */
export function countsOf({ total, selected, deadLetters, byReason }: DeadLetterList): string {
  const shown = deadLetters.length
  const parts = [
    total === 0 ? 'no dead letters' : `${total} dead letter${total === 1 ? '' : 's'}`,
    ...(selected < total ? [`${selected} selected`] : []),
    ...(shown < selected ? [`the newest ${shown} shown`] : []),
  ].join(', ')
  const reasons = [...byReason]
    .sort(([a, countOfA], [b, countOfB]) => countOfB - countOfA || (a < b ? -1 : 1))
    .map(([reason, count]) => `${reason || '-'} ${count}`)
  return printable(reasons.length === 0 ? parts : `${parts}: ${reasons.join(', ')}`)
}
