import type { Command } from 'commander'
import type {
  ShownLedger,
  ShownLedgerCounts,
} from '../../adapters/operator-client/message-dead-letter-ledger-client.ts'
import { noDestination } from '../../core/delivery/parse-dead-letter.ts'
import { adviceOnName } from '../../core/settings/key-and-name-hints.ts'
import { CommandFailed, type CommandIo, createCommand, printData, UsageError, withExamples } from '../create-command.ts'
import {
  type OperatorOptions,
  openLogClient,
  openOperator,
  withOperatorOptions,
} from '../operator-api-options-and-clients.ts'
import { refusalError, refusalText } from '../operator-api-refusals.ts'
import { withJsonOption } from '../options.ts'
import { printable, tableOf } from '../terminal-table-and-progress-bar.ts'

interface Options extends OperatorOptions {
  readonly destination?: string
  readonly since?: string
  readonly until?: string
}

const description = [
  'Counts deliveries by destination, and by the hour in which their event was written to Kafka. By default, the command shows the last 24 hours. The operator service reads the counts from Kafka. A new delivery is counted only after the dispatcher has committed the offset of its event.',
  'ADMITTED counts new deliveries, REPLAYED those that an operator started again, and REPEATED those that Hookline repeated after a crash. The next columns count the results of these deliveries; WAITING counts those that still wait in a retry topic.',
  'DIFFERENCE is ADMITTED plus REPLAYED plus REPEATED, minus DELIVERED, DEAD LETTERED, DROPPED and WAITING. If it is not 0, deliveries were lost, or Hookline has a bug. It is "-" if the counts of the hour are incomplete.',
  'The exit code is 1 if a DIFFERENCE is not 0, or if the operator service could not read enough counts to calculate the total DIFFERENCE.',
].join('\n\n')

/** `hookline ledger` */
export function ledgerCommand(io: CommandIo): Command {
  const command = createCommand(
    'ledger',
    'count deliveries and their results for each hour, to show whether deliveries were lost',
    io,
  )
    .description(description)
    .option(
      '--destination <id>',
      'show only this destination; "-" shows events without a destination, for example events that Hookline could not decode',
    )
    .option(
      '--since <time>',
      'begin with the hour that contains this time: ISO 8601, or a duration before now, such as 6h',
    )
    .option('--until <time>', 'end with the hour that contains this time (same format as --since)')
    .action(async (options: Options) => run(options, io))
  return withExamples(withJsonOption(withOperatorOptions(command)), [
    'hookline ledger --since 6h',
    "hookline ledger --destination crm --json | jq '.rows[] | select(.difference != 0)'",
  ])
}

async function run(options: Options, io: CommandIo): Promise<void> {
  const client = await openLogClient(options, io)
  const { destination, since, until } = options
  const answer = await client.ledger({ destination, since, until })
  if ('kind' in answer) throw refusalError(answer)
  if (answer.rows.length === 0 && answer.partial !== true) await rejectUnknown(destination, options, io)
  printData(io, options, answer, linesOf(answer))
  if (answer.partial === true)
    io.stderr.write(
      'hookline: some rows or counts are missing, because the result has too many rows or could not be read in time; to request fewer rows, use --since, --until and --destination\n',
    )
  if (answer.exactSince !== undefined)
    io.stderr.write(
      printable(
        `hookline: the counts of hours before ${answer.exactSince} are incomplete, so their DIFFERENCE is "-" and cannot show whether deliveries were lost`,
      ).concat('\n'),
    )
  const wrong = answer.rows.filter(({ difference = 0 }) => difference !== 0)
  if (wrong.length > 0 || (answer.totals.difference ?? 0) !== 0) throw new CommandFailed(differenceText(wrong))
  if (answer.partial === true && answer.totals.difference === undefined)
    throw new CommandFailed(
      'not all counts could be read, so it is not known whether deliveries were lost; request fewer rows, or try again',
    )
}

/**
 * Rejects an unknown `--destination`. Call it only for a value without counts in the ledger: a
 * removed destination that has counts is valid.
 * @throws UsageError
 */
async function rejectUnknown(typed: string | undefined, options: Options, io: CommandIo): Promise<void> {
  if (typed === undefined || typed === noDestination) return
  const found = await (await openOperator(options, io)).list('destination')
  if ('kind' in found) throw new CommandFailed(refusalText(found))
  const ids = found.map(({ id }) => id)
  if (ids.includes(typed)) return
  throw new UsageError(printable(`--destination: unknown value '${typed}' (${adviceOnName(typed, ids)})`))
}

const differenceText = ([first]: ShownLedger['rows']): string =>
  first === undefined
    ? 'some deliveries have no result, but the table does not show their rows; to show these rows, select fewer hours or destinations with --since, --until and --destination'
    : printable(
        `some deliveries have no result: see the column DIFFERENCE; the first row with a difference is destination ${first.destination}, hour ${first.hour}; see the runbook HooklineLedgerDifference`,
      )

const linesOf = ({ rows, totals }: ShownLedger): readonly string[] =>
  tableOf(titles, [
    ...rows.map(row => [row.hour, row.destination, ...numbersOf(row)]),
    ['total', '', ...numbersOf(totals)],
  ])

const titles = [
  ...['HOUR', 'DESTINATION', 'ADMITTED', 'REPLAYED', 'REPEATED', 'DELIVERED', 'DEAD LETTERED', 'DROPPED', 'WAITING'],
  'DIFFERENCE',
]

const numbersOf = (counts: ShownLedgerCounts): readonly string[] => [
  ...[counts.admitted, counts.replayed, counts.repeated, counts.delivered, counts.deadLettered].map(String),
  ...[counts.dropped, counts.waiting, counts.difference ?? '-'].map(String),
]
