import type { Command } from 'commander'
import { processClock } from '../../adapters/clock/process-clock.ts'
import { defaultResendRate, maxJobRate } from '../../core/jobs/max-and-default-job-rates.ts'
import { toIsoTimestamp } from '../../core/message/timestamp.ts'
import type { EpochMs } from '../../core/time.ts'
import { type JobOptions, runJob, withJobOptions } from '../create-and-follow-job.ts'
import { type CommandIo, createCommand, UsageError, withExamples } from '../create-command.ts'
import { withOperatorOptions } from '../operator-api-options-and-clients.ts'
import { timeOf, wholeNumber, withJsonOption } from '../options.ts'

interface Options extends JobOptions {
  readonly destination?: string
  readonly since?: EpochMs
  readonly until?: EpochMs
  readonly types?: readonly string[]
  readonly userIds?: readonly string[]
  readonly rate?: number
  readonly dryRun?: boolean
}

const description = [
  'Sends events to one destination again, with the same message ids, if Kafka still has the events. Use the command when a new destination needs past events, when a receiver has lost data, or when requests had a wrong signature.',
  'The operator service resends the events as a job, and the command shows its progress. After Ctrl-C the job continues.',
  'Hookline sends the events that it received from the sources of the destination between --since and --until. It skips events that are excluded by the filter of the destination or by the field `integrations` of the event. It also skips messages that Hookline itself wrote, for example audience changes.',
  'For a deleted user, Hookline skips the events from before the deletion. After `hookline delete-user --suppress`, it skips all events of the user.',
  'The job copies the events to a retry topic. The exit code is 1 if some events are too large for this topic (with --dry-run: 0).',
].join('\n\n')

const examples = [
  'hookline resend --destination crm --since 2026-03-01T10:00:00Z --until 2026-03-01T12:00:00Z --dry-run',
  'hookline resend --destination crm --since 2h --until 0s --types track,identify --rate 100',
  'hookline resend --cancel 7b0f3c1e-6f0a-4f5e-9a55-2f8f0e6f1f52',
]

/** `hookline resend` */
export function resendCommand(io: CommandIo): Command {
  const command = createCommand('resend', 'send events of a time span to one destination again', io)
  const now = processClock.now()
  command
    .description(description)
    .option(
      '--destination <id>',
      'destination to which the events are sent; a new resend needs --destination, --since and --until',
    )
    .option(
      '--since <time>',
      'send events received at or after this time: ISO 8601, or a duration before now, such as 2h',
      timeOf('--since', now),
    )
    .option('--until <time>', 'send events received before this time (same format as --since)', timeOf('--until', now))
    .option('--types <list>', 'send only messages of these types (comma-separated)', listOf)
    .option('--user-ids <list>', 'send only messages of these users (comma-separated)', listOf)
    .option(
      '--rate <number>',
      `send at most this number of events per second (default: ${defaultResendRate}; at most ${maxJobRate})`,
      wholeNumber('--rate', 1),
    )
    .option('--dry-run', 'count the events, and send nothing')
    .action(async (options: Options) => runJob('resend', options, io, { body: () => bodyOf(options) }))
  return withExamples(withJsonOption(withOperatorOptions(withJobOptions(command, 'resend'))), examples)
}

const listOf = (text: string): readonly string[] => text.split(',').map(each => each.trim())

/** The body of the request for a resend. @throws UsageError when an option is missing */
function bodyOf({ destination, since, until, types, userIds, rate, dryRun }: Options): object {
  if (destination === undefined || since === undefined || until === undefined)
    throw new UsageError(
      'missing option: for a new resend, use --destination, --since and --until; for an existing one, use --follow <id> or --cancel <id>',
    )
  if (since >= until) throw new UsageError('--since must be before --until')
  return { destination, since: toIsoTimestamp(since), until: toIsoTimestamp(until), types, userIds, rate, dryRun }
}
