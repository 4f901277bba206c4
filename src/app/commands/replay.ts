import { createInterface } from 'node:readline'
import type { Command } from 'commander'
import { systemClock } from '../../adapters/clock/clock.ts'
import { noDestination } from '../../core/delivery/dead-letter.ts'
import { createRouting, type Routing } from '../../core/delivery/route.ts'
import { adviceOnName } from '../../core/settings/advice.ts'
import type { Settings } from '../../core/settings/settings.ts'
import { tiersOf, topicNames } from '../../core/topics.ts'
import { type ReplayReport, replayDeadLetters } from '../../services/operator/replay-dead-letters.ts'
import {
  CommandFailed,
  type CommandIo,
  createCommand,
  printData,
  UsageError,
  wholeNumber,
  withConfigOption,
  withExamples,
  withJsonOption,
  withRemedy,
} from '../command.ts'
import { type FilterOptions, filterOf, withFilterOptions } from '../dead-letter-view.ts'
import { loadSettings } from '../load-settings.ts'
import { type OperatorAccess, openOperatorAccess } from '../operator-access.ts'
import { countsOf, documentOf, hintsOf, linesOf } from '../replay-view.ts'
import { createProgressBar } from '../terminal.ts'

interface Options extends FilterOptions {
  readonly config?: string
  readonly rate?: number
  readonly dryRun?: boolean
  readonly evenDisconnected?: boolean
  readonly json?: boolean
}

/** What a run of the command works with. */
export type ReplayAccess = Pick<OperatorAccess, 'reader' | 'producer' | 'clock' | 'events' | 'inputs' | 'close'>

const description = [
  'Puts back what was given up (see `hookline dead-letters`): a delivery starts over for its destination only, under the same message id, with its whole retry window, after some ten seconds; an event that never became a delivery goes back to the events topic as it was; of a change of an audience the current value is sent instead, if the destination does not have it. All filters have to be met; without any, everything is put back, which is asked about on a terminal.',
  'It may be stopped or killed at any time and run again: what was put back is not put back again, but for what was under way when it was killed. Run one at a time.',
  'Stays where it is what would only be given up or dropped again: for destinations that are not configured, switched off, or not connected to the source any more. That ends with exit code 1.',
].join('\n\n')

const examples = [
  'hookline replay --destination crm --since 2h --dry-run',
  'hookline replay --destination crm --reason retries_exhausted --rate 50',
  'hookline replay --message-id 0d4f6e1c',
  "hookline replay --reason unknown_source --json | jq '.byReason'",
]

/** `hookline replay` */
export function replayCommand(
  io: CommandIo,
  open: (settings: Settings, io: CommandIo) => ReplayAccess = openOperatorAccess,
): Command {
  const command = createCommand('replay', 'put back what was given up', io).description(description)
  withFilterOptions(withConfigOption(command), systemClock.now())
    .option('--rate <number>', 'so many a second (as fast as Kafka takes them)', wholeNumber('--rate', 1))
    .option('--dry-run', 'write nothing, show what would go where')
    .option('--even-disconnected', 'also to destinations that the source is no longer connected to')
    .action(async (options: Options) => run(options, io, open))
  return withExamples(withJsonOption(command), examples)
}

async function run(
  options: Options,
  io: CommandIo,
  open: (settings: Settings, io: CommandIo) => ReplayAccess,
): Promise<void> {
  const filter = filterOf(options)
  const settings = await loadSettings(options, io)
  const signal = io.stopSignal()
  const { dryRun = false, evenDisconnected = false, rate } = options
  const isAll = Object.values(filter).every(each => each === undefined)
  const circumstances = { ...circumstancesOf(settings), evenDisconnected }
  const bar = createProgressBar(io, options, barFormat)
  const access = open(settings, io)
  try {
    const report = await replayDeadLetters(
      { ...access, circumstances },
      {
        filter,
        perSecond: rate,
        dryRun,
        signal,
        async begin(total) {
          if (isAll && !dryRun && total > 0 && !(await mayReplayAll(total, io, signal))) return false
          bar?.start(total, { replayed: 0 })
          return true
        },
        onProgress: ({ seen, replayed }) => bar?.update(seen, { replayed }),
      },
    )
    bar?.stop()
    if (countsOf(report).selected === 0) refuseUnknown(options.destination, report, circumstances.routing)
    tell(report, options, io)
  } finally {
    bar?.stop()
    await access.close()
  }
}

const barFormat = '{bar} {percentage}% {value}/{total} dead letters, {replayed} put back, {eta_formatted} left'

const circumstancesOf = (settings: Settings) => ({
  topics: topicNames(settings.topics.prefix),
  routing: createRouting(settings),
  policy: { window: settings.delivery.window, tiers: tiersOf(settings.delivery.schedule) },
})

/** @throws UsageError when neither the configuration nor a dead letter names the destination; CommandFailed when only a dead letter does. */
function refuseUnknown(typed: string | undefined, { end, destinations }: ReplayReport, routing: Routing): void {
  if (typed === undefined || typed === noDestination || end.kind !== 'done') return
  if (routing.destinations.has(typed)) return
  if (destinations.has(typed)) throw new CommandFailed(`${typed} is not in the configuration: nothing was replayed`)
  const names = [...new Set([...routing.destinations.keys(), ...destinations])]
  throw new UsageError(
    `--destination: neither the configuration nor a dead letter names '${typed}' (${adviceOnName(typed, names)})`,
  )
}

/** @throws CommandFailed, or what Kafka says, unless all that was selected was put back. */
function tell(report: ReplayReport, options: Options, io: CommandIo): void {
  const { dryRun = false } = options
  const { total, replayed, unmarked, end } = report
  const { selected, refused } = countsOf(report)
  if (total !== undefined && end.kind !== 'declined')
    printData(io, options, documentOf({ ...report, total }, dryRun), linesOf({ ...report, total }, dryRun))
  for (const hint of hintsOf(report)) io.stderr.write(`hookline: ${hint}\n`)
  if (unmarked > 0)
    io.stderr.write(
      `hookline: ${unmarked} more are put back and not marked so: the next replay repeats them, under the same message ids\n`,
    )
  switch (end.kind) {
    case 'failed':
      throw withRemedy(end.error)
    case 'declined':
      throw new CommandFailed('nothing was put back')
    case 'interrupted':
      throw new CommandFailed(`interrupted after ${replayed} were put back; the same command puts back the rest`)
    case 'done':
      if (refused > 0 && !dryRun) throw new CommandFailed(`${refused} of ${selected} selected dead letters stay`)
  }
}

/** Says that everything is meant; on a terminal, asks. */
async function mayReplayAll(total: number, io: CommandIo, signal: AbortSignal): Promise<boolean> {
  const all = total === 1 ? 'the only dead letter is' : `all ${total} dead letters are`
  io.stderr.write(`no filter: ${all} put back\n`)
  if (io.stdin.isTTY !== true || io.stderr.isTTY !== true) return true
  io.stderr.write('go on? [y/N] ')
  // The end of stdin, and a signal, end the loop without an answer.
  for await (const line of createInterface({ input: io.stdin, signal })) return /^y(es)?$/i.test(line.trim())
  io.stderr.write('\n')
  return false
}
