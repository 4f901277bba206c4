import type { Command } from 'commander'
import {
  type DeadLetterFilter,
  type DeadLetterOutcome,
  deadLetterOutcomes,
} from '../core/delivery/dead-letter-filter.ts'
import { type DeadLetterReason, deadLetterReasons } from '../core/delivery/outcomes-reasons-and-classification.ts'
import { noDestination } from '../core/delivery/parse-dead-letter.ts'
import { storedMessageId } from '../core/message/message-ids-and-required-identifiers.ts'
import { isoOf } from '../core/message/timestamp.ts'
import type { EpochMs } from '../core/time.ts'
import { UsageError } from './create-command.ts'
import { closedOption, timeOf } from './options.ts'

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
      `select only dead letters of this destination; '${noDestination}' selects events that failed before Hookline knew their destination`,
    )
    .addOption(closedOption('--reason', 'select only dead letters with this reason', deadLetterReasons))
    .addOption(
      closedOption(
        '--outcome',
        'select only dead letters in which the last request to at least one webhook had this outcome; if the reason is invalid_message, the outcome is the code of the rule that the event breaks',
        deadLetterOutcomes,
      ),
    )
    .option(
      '--since <time>',
      'select only events dead-lettered at or after this time: ISO 8601, or a duration before now, such as 2h',
      timeOf('--since', now),
    )
    .option(
      '--until <time>',
      'select only events dead-lettered before this time: ISO 8601, or a duration before now, such as 2h',
      timeOf('--until', now),
    )
    .option('--message-id <id>', 'select only dead letters of this message', storedMessageId)
}

/** Converts the options to a filter. @throws UsageError when --since is not before --until */
export function filterOf({ destination, reason, outcome, since, until, messageId }: FilterOptions): DeadLetterFilter {
  if (since !== undefined && until !== undefined && since >= until)
    throw new UsageError('--since must be before --until')
  return { destination, reason, outcome, since, until, messageId }
}

/**
 * Converts a filter to the form that the operator API expects: ISO 8601 times, and the message id
 * as `message`.
 */
export const apiFilterOf = ({ since, until, messageId: message, ...others }: DeadLetterFilter) => ({
  ...others,
  since: since === undefined ? undefined : isoOf(since),
  until: until === undefined ? undefined : isoOf(until),
  message,
})
