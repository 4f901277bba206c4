import type { Command } from 'commander'
import type { ShownTimeline } from '../../adapters/operator-client/message-dead-letter-ledger-client.ts'
import { CommandFailed, type CommandIo, createCommand, printData, withExamples } from '../create-command.ts'
import { type OperatorOptions, openLogClient, withOperatorOptions } from '../operator-api-options-and-clients.ts'
import { refusalError } from '../operator-api-refusals.ts'
import { withJsonOption } from '../options.ts'
import { printable, tableOf } from '../terminal-table-and-progress-bar.ts'

interface Options extends OperatorOptions {
  readonly since?: string
  readonly until?: string
}

const description = [
  'Shows what happened to a message: its event, its state at each destination, and each recorded attempt. The operator service reads this information from Kafka.',
  'The states are "delivered", "waiting", "dead_lettered", "dropped" and "unknown". For "unknown", the column REASON says which information is missing.',
  'A state with "(inferred)" is an assumption, because Kafka has no record of the state: "dropped" if the current configuration drops the event, otherwise "delivered". The assumption can be wrong if the configuration has changed since the event.',
  'By default, the command searches messages received in the last 24 hours. If the search reaches its limit of time or records, the command prints on stderr how far back it searched. For a complete search, set --since and --until to times shortly before and after the message.',
].join('\n\n')

/** `hookline message` */
export function messageCommand(io: CommandIo): Command {
  const command = createCommand('message', 'show what happened to a message', io)
    .description(description)
    .argument('<id>', 'message id, as in the header X-Message-Id of a request')
    .option(
      '--since <time>',
      'search messages received at or after this time: ISO 8601, or a duration before now, such as 2h',
    )
    .option(
      '--until <time>',
      'search messages received before this time: ISO 8601, or a duration before now, such as 1h',
    )
    .action(async (id: string, options: Options) => run(id, options, io))
  return withExamples(withJsonOption(withOperatorOptions(command)), [
    'hookline message 01a1fd7c-3123-7c3e-9d4e-7a1f0b6c2d11',
    'hookline message order-17 --since 2026-11-21T10:00:00Z --until 2026-11-21T11:00:00Z',
    'hookline message order-17 --json | jq .destinations',
  ])
}

async function run(id: string, options: Options, io: CommandIo): Promise<void> {
  const client = await openLogClient(options, io)
  const { since, until } = options
  const answer = await client.message(id, { since, until })
  if ('kind' in answer) throw refusalError(answer)
  const reach = `only messages received since ${answer.searchedSince} were searched`
  if (answer.records.length + answer.destinations.length === 0)
    throw new CommandFailed(
      printable(
        `no record of message ${answer.id} was found; ${reach}; to search another time span, use --since and --until`,
      ),
    )
  printData(io, options, answer, linesOf(answer))
  if (answer.partial === true)
    io.stderr.write(
      printable(
        `hookline: the search is incomplete: ${reach}; for a complete search, set --since and --until to times shortly before and after the message`,
      ).concat('\n'),
    )
}

function linesOf({ id, event, eventRemoved, destinations }: ShownTimeline): readonly string[] {
  const place = event && `${event.position.topic}/${event.position.partition}/${event.position.offset}`
  const about =
    event === undefined
      ? `its event ${eventRemoved === true ? 'was deleted by Kafka after the retention time of the topic' : 'was not found in the searched time span'}`
      : `${event.type}${event.event === undefined ? '' : ` "${event.event}"`} of source ${event.sourceId}, received ${event.receivedAt}, ${place}`
  const states = destinations.map(destination => [
    destination.id,
    `${destination.state}${destination.inferred === true ? ' (inferred)' : ''}`,
    destination.reason ?? '-',
    destination.waiting === undefined ? '-' : `${destination.waiting.tier}, due ${destination.waiting.dueAt}`,
    destination.deadLetterKey ?? '-',
  ])
  const attempts = destinations
    .flatMap(destination => destination.attempts.map(attempt => ({ ...attempt, destination: destination.id })))
    .toSorted((a, b) => (a.at < b.at ? -1 : 1))
    .map(({ at, destination, number, webhook = '-', outcome, status, durationMs, decision, reason, dueAt }) => [
      ...[at, destination, String(number), webhook, outcome, String(status ?? '-'), String(durationMs)],
      ...[decision, reason ?? '-', dueAt ?? '-'],
    ])
  return [
    printable(`message ${id}: ${about}`),
    ...(states.length === 0
      ? []
      : ['', ...tableOf(['DESTINATION', 'STATE', 'REASON', 'WAITING IN RETRY TOPIC', 'DEAD LETTER KEY'], states)]),
    ...(destinations.some(destination => destination.inferred === true) ? [inferredNote] : []),
    ...(attempts.length === 0 ? [] : ['', ...tableOf(attemptTitles, attempts)]),
  ]
}

const inferredNote =
  '(inferred): no record shows the state. Hookline assumes "dropped" if the current configuration drops the event. Otherwise it assumes "delivered", because it has processed the event and recorded no failure'

const attemptTitles = [
  ...['TIME', 'DESTINATION', 'ATTEMPT', 'WEBHOOK', 'OUTCOME', 'STATUS', 'MS', 'DECISION', 'REASON', 'NEXT ATTEMPT'],
]
