import type { Command } from 'commander'
import { systemClock as clock } from '../../adapters/clock/clock.ts'
import { createKafka } from '../../adapters/kafka/kafkajs/client.ts'
import { createFollower, type FollowerDeps } from '../../adapters/kafka/log/follower.ts'
import {
  type AttemptFilter,
  type AttemptRecord,
  attemptDecisions,
  decodeAttempt,
  isMeant,
} from '../../core/delivery/attempt-facts.ts'
import { outcomes } from '../../core/delivery/outcome.ts'
import { messageTypes } from '../../core/message/message.ts'
import type { LogRecord, TopicFollower } from '../../core/ports.ts'
import type { Settings } from '../../core/settings/settings.ts'
import { topicNames } from '../../core/topics.ts'
import type { EpochMs } from '../../core/units.ts'
import {
  CommandFailed,
  type CommandIo,
  commandLogger,
  createCommand,
  print,
  wholeNumber,
  withConfigOption,
  withExamples,
  withRemedy,
} from '../command.ts'
import { timeOf } from '../dead-letter-view.ts'
import { loadSettings } from '../load-settings.ts'
import { choice, closedOption } from '../options.ts'
import { printable } from '../terminal.ts'

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
  'Shows attempts as they are made, by all processes of the installation, from now on or from --since on (kept for a day), until it is interrupted. All filters have to be met. Attempts of one destination come in order.',
  'A line has the time it began, the destination, what was decided and why, the number of the attempt, how long it took, type, source and message id, and the outcome of each webhook by its label. Users and what messages say are never part of it.',
  'Needs delivery.attemptsTopic: true. The dispatcher writes these records on the side: what it has no room for is left out, and counted in hookline_attempt_records_total.',
].join('\n\n')

/** `hookline tail` */
export function tailCommand(io: CommandIo, open: OpenFollower = openFollower): Command {
  const command = createCommand('tail', 'show attempts as they are made', io).description(description)
  withConfigOption(command)
    .option('--destination <id>', 'to this destination')
    .option('--source <id>', 'of messages of this source')
    .addOption(closedOption('--type', 'of messages of this type', messageTypes))
    .addOption(closedOption('--outcome', 'with this among the outcomes of its webhooks', outcomes))
    .addOption(closedOption('--decision', 'that ended so', attemptDecisions))
    .option('--message-id <id>', 'of this message')
    .option(
      '--since <time>',
      'begin with attempts then: ISO 8601, or so long ago (10m)',
      timeOf('--since', clock.now()),
    )
    .option('--count <n>', 'end after so many', wholeNumber('--count', 1))
    .option('--json', 'print a line of JSON for each')
    .action((options: Options) => run(options, io, open))
  return withExamples(command, [
    'hookline tail --destination crm',
    'hookline tail --decision dead_lettered --since 10m',
    'hookline tail --outcome timeout --json | jq -r .messageId',
  ])
}

async function run(options: Options, io: CommandIo, open: OpenFollower): Promise<void> {
  const settings = await loadSettings(options, io)
  if (!settings.delivery.attemptsTopic)
    throw new CommandFailed(
      'no records of attempts are kept: set delivery.attemptsTopic: true, then `hookline topics apply` and restart the dispatchers',
    )
  refuseUnknown('--destination', options.destination, settings.destinations)
  refuseUnknown('--source', options.source, settings.sources)
  const { config: _config, json = false, since = 'end', count = Number.POSITIVE_INFINITY, ...filter } = options
  const follower = open(settings, since, io)
  const ended = Promise.withResolvers<void>()
  io.stopSignal().addEventListener('abort', () => ended.resolve())
  let shown = 0
  const following = follower.start({
    onRecord(record) {
      const attempt = attemptOf(record)
      if (attempt === undefined || !isMeant(attempt, filter) || shown >= count) return
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

/** Destinations that were removed have attempts no more: whoever names one has mistyped it. @throws UsageError */
function refuseUnknown(option: string, typed: string | undefined, known: readonly { readonly id: string }[]): void {
  if (typed === undefined) return
  choice(
    option,
    typed,
    known.map(({ id }) => id),
  )
}

const attemptOf = ({ value }: LogRecord): AttemptRecord | undefined =>
  value === null ? undefined : decodeAttempt(value.toString())

const documentOf = ({ at, ...facts }: AttemptRecord): string =>
  JSON.stringify({ at: new Date(at).toISOString(), ...facts })

/** `2026-03-01T10:00:00.000Z crm retried #1 5003 ms track web m-1 0=timeout next in 10s` */
function lineOf(record: AttemptRecord): string {
  const { at, destination, decision, reason, attempt, elapsedMs, type, source, messageId, nextAttemptInMs } = record
  const decided = reason === undefined ? decision : `${decision} (${reason})`
  const next = nextAttemptInMs === undefined ? [] : [`next in ${Math.ceil(nextAttemptInMs / 1000)}s`]
  const results = Object.entries(record.outcomes).map(([webhook, outcome]) => `${webhook}=${outcome}`)
  return printable(
    [
      ...[new Date(at).toISOString(), destination, decided, `#${attempt}`, `${elapsedMs} ms`],
      ...[type, source, messageId, ...results, ...next],
    ].join(' '),
  )
}
