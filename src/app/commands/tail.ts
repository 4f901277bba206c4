import type { Command } from 'commander'
import { processClock as clock } from '../../adapters/clock/process-clock.ts'
import { createKafka } from '../../adapters/kafka/kafkajs/client.ts'
import { createFollower, type FollowerDeps } from '../../adapters/kafka/log/topic-follower.ts'
import { decodeRecordedAttempt } from '../../core/delivery/attempt-details-and-recording-rule.ts'
import {
  type AttemptFilter,
  type AttemptRecord,
  attemptDecisions,
  matchesAttemptFilter,
} from '../../core/delivery/attempt-facts-and-record.ts'
import { outcomes } from '../../core/delivery/outcomes-reasons-and-classification.ts'
import { messageTypes } from '../../core/message/message.ts'
import { storedMessageId } from '../../core/message/message-ids-and-required-identifiers.ts'
import { isOwnSource } from '../../core/message/own-event-builder-and-source-ids.ts'
import type { LogRecord, TopicFollower } from '../../core/ports.ts'
import { adviceOnName } from '../../core/settings/key-and-name-hints.ts'
import type { Settings } from '../../core/settings/settings.ts'
import type { EpochMs } from '../../core/time.ts'
import { topicNames } from '../../core/topics.ts'
import {
  CommandFailed,
  type CommandIo,
  commandLogger,
  createCommand,
  print,
  withExamples,
  withRemedy,
} from '../create-command.ts'
import { loadSettings } from '../load-settings.ts'
import { loadMergedSettings } from '../merged-settings-of-command.ts'
import { choice, closedOption, timeOf, wholeNumber, withConfigOption } from '../options.ts'
import { printable } from '../terminal-table-and-progress-bar.ts'

interface Options extends AttemptFilter {
  readonly config?: string
  readonly json?: boolean
  readonly since?: EpochMs
  readonly count?: number
}

type OpenFollower = (settings: Settings, from: NonNullable<FollowerDeps['from']>, io: CommandIo) => TopicFollower

const openFollower: OpenFollower = ({ kafka, topics }, from, io) => {
  const logger = commandLogger(io)
  return createFollower({
    kafka: createKafka(kafka, logger),
    clock,
    logger,
    from,
    topic: topicNames(topics.prefix).attempts,
  })
}

const description = [
  'Shows the recorded delivery attempts that match all filters, from now on or from the time in --since. Runs until you interrupt the command, or until it has shown the number of attempts in --count. Kafka keeps attempt records for seven days.',
  'Each line has the start time of the attempt, the destination, the decision about the delivery (for example "retried") and its reason, the attempt number, the duration, the message type, the source and the message id. A line never has user ids or message contents.',
  'After the message id, a line has one entry for each webhook, for example 0=timeout: the id of the webhook (or its position, counted from 0) and the outcome of its request.',
  'With `delivery.attemptsTopic: failures` (the default), the dispatcher records each failed attempt, and each success of a retry, a replay or a resend. With `delivery.attemptsTopic: all`, it records every attempt.',
  'Under load the dispatcher may drop attempt records; the metric hookline_attempt_records_total{result="dropped"} counts them.',
].join('\n\n')

/** `hookline tail` */
export function tailCommand(io: CommandIo, open: OpenFollower = openFollower): Command {
  const command = createCommand('tail', 'show delivery attempts as they happen', io).description(description)
  withConfigOption(command)
    .option('--destination <id>', 'show only attempts to this destination')
    .option('--source <id>', 'show only attempts for messages of this source')
    .addOption(closedOption('--type', 'show only attempts for messages of this type', messageTypes))
    .addOption(
      closedOption(
        '--outcome',
        'show only attempts in which the request to at least one webhook had this outcome',
        outcomes,
      ),
    )
    .addOption(
      closedOption(
        '--decision',
        'show only attempts after which Hookline made this decision about the delivery',
        attemptDecisions,
      ),
    )
    .option('--message-id <id>', 'show only attempts for this message', storedMessageId)
    .option(
      '--since <time>',
      'start at this time: ISO 8601, or a duration before now, such as 10m (default: now)',
      timeOf('--since', clock.now()),
    )
    .option(
      '--count <n>',
      'stop after this number of attempts (default: run until interrupted)',
      wholeNumber('--count', 1),
    )
    .option('--json', 'print one JSON line for each attempt')
    .action((options: Options) => run(options, io, open))
  return withExamples(command, [
    'hookline tail --destination crm',
    'hookline tail --decision dead_lettered --since 10m',
    'hookline tail --outcome timeout --json | jq -r .messageId',
  ])
}

async function run(options: Options, io: CommandIo, open: OpenFollower): Promise<void> {
  const hasIds = options.destination !== undefined || options.source !== undefined
  const settings = await (hasIds ? loadMergedSettings : loadSettings)(options, io)
  if (settings.delivery.attemptsTopic === 'off')
    throw new CommandFailed(
      'the dispatchers record no attempts, because delivery.attemptsTopic is "off": set it to "all", run `hookline topics apply`, and restart the dispatchers',
    )
  checkId('--destination', options.destination, settings.destinations, options, io)
  if (!isOwnSource(options.source ?? '')) checkId('--source', options.source, settings.sources, options, io)
  const { config: _config, json = false, since = 'end', count = Number.POSITIVE_INFINITY, ...filter } = options
  const follower = open(settings, since, io)
  const ended = Promise.withResolvers<void>()
  io.stopSignal().addEventListener('abort', () => ended.resolve())
  let shown = 0
  const following = follower.start({
    onRecord(record) {
      const attempt = attemptOf(record)
      if (attempt === undefined || !matchesAttemptFilter(attempt, filter) || shown >= count) return
      print(io, json ? documentOf(attempt) : lineOf(attempt))
      if (++shown >= count) ended.resolve()
    },
    onCurrent() {},
  })
  await Promise.race([following.then(() => ended.promise), ended.promise])
    .catch(error => {
      throw withRemedy(error)
    })
    .finally(() => follower.stop())
}

/**
 * Rejects the id of an unknown destination or source. With `--since`, only prints a warning,
 * because old attempts can have the id of a removed destination or source.
 * @throws UsageError
 */
function checkId(
  option: string,
  typed: string | undefined,
  known: readonly { readonly id: string }[],
  { since }: Options,
  io: CommandIo,
): void {
  const ids = known.map(({ id }) => id)
  if (typed === undefined || ids.includes(typed)) return
  if (since === undefined) choice(option, typed, ids)
  io.stderr.write(
    `hookline: ${option}: '${printable(typed)}' is not in the configuration (${adviceOnName(typed, ids)}); if it was removed from the configuration, only attempts from before the removal can match\n`,
  )
}

/**
 * Returns the attempt of a record; `undefined` for a delivery that ended without an attempt, and
 * for an unreadable record.
 */
function attemptOf({ value }: LogRecord): AttemptRecord | undefined {
  const record = value === null ? undefined : decodeRecordedAttempt(value.toString())
  return record?.kind === 'result' ? undefined : record
}

const documentOf = ({ at, ...facts }: AttemptRecord): string =>
  JSON.stringify({ at: new Date(at).toISOString(), ...facts })

/**
 * The line of an attempt, for example
 * `2026-03-01T10:00:00.000Z crm retried #1 5003 ms track web m-1 0=timeout next attempt after 10s`
 */
function lineOf(record: AttemptRecord): string {
  const { at, destination, decision, reason, attempt, elapsedMs, type, source, messageId, nextAttemptInMs } = record
  const decided = reason === undefined ? decision : `${decision} (${reason})`
  const next = nextAttemptInMs === undefined ? [] : [`next attempt after ${Math.ceil(nextAttemptInMs / 1000)}s`]
  const results = Object.entries(record.outcomes).map(([webhook, outcome]) => `${webhook}=${outcome}`)
  return printable(
    [
      ...[new Date(at).toISOString(), destination, decided, `#${attempt}`, `${elapsedMs} ms`],
      ...[type, source, messageId, ...results, ...next],
    ].join(' '),
  )
}
