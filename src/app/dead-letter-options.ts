import type { Command } from 'commander'
import {
  type DeadLetterFilter,
  type DeadLetterOutcome,
  deadLetterOutcomes,
  noDestination,
} from '../core/delivery/dead-letter.ts'
import { type DeadLetterReason, deadLetterReasons } from '../core/delivery/outcome.ts'
import { parseTimestamp } from '../core/message/timestamp.ts'
import { type EpochMs, epochMs, parseDuration } from '../core/units.ts'
import { closedOption } from './choice.ts'
import { UsageError } from './command.ts'

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
