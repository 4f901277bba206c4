import { createInterface } from 'node:readline'
import type { Command } from 'commander'
import { processClock } from '../../adapters/clock/process-clock.ts'
import type { Refused } from '../../adapters/operator-client/operator-request.ts'
import { countWithNoun } from '../../core/count-with-noun.ts'
import { noDestination } from '../../core/delivery/parse-dead-letter.ts'
import { retryPolicyOf } from '../../core/delivery/retry-tier.ts'
import { createRouting, type Routing } from '../../core/delivery/route.ts'
import { maxJobRate } from '../../core/jobs/max-and-default-job-rates.ts'
import { adviceOnName } from '../../core/settings/key-and-name-hints.ts'
import type { Settings } from '../../core/settings/settings.ts'
import { topicNames } from '../../core/topics.ts'
import { openReplays } from '../../services/jobs/unfinished-replay-jobs.ts'
import { type ReplayReport, replayDeadLetters } from '../../services/operator/replay-dead-letters.ts'
import { type JobOptions, runJob, withJobOptions } from '../create-and-follow-job.ts'
import {
  CommandFailed,
  type CommandIo,
  createCommand,
  printData,
  UsageError,
  withExamples,
  withRemedy,
} from '../create-command.ts'
import { apiFilterOf, type FilterOptions, filterOf, withFilterOptions } from '../dead-letter-filter-options.ts'
import { type CommandClients, openCommandClients } from '../kafka-clients-of-commands.ts'
import { loadMergedSettings } from '../merged-settings-of-command.ts'
import {
  openLogClient,
  operatorApiUse,
  usesOperatorApi,
  withOperatorOptions,
} from '../operator-api-options-and-clients.ts'
import { wholeNumber, withConfigOption, withJsonOption } from '../options.ts'
import { countsOf, documentOf, hintsOf, linesOf } from '../replay-output.ts'
import { createProgressBar, printable } from '../terminal-table-and-progress-bar.ts'

interface Options extends FilterOptions, JobOptions {
  readonly config?: string
  readonly rate?: number
  readonly dryRun?: boolean
  readonly evenDisconnected?: boolean
}

export type ReplayAccess = Pick<
  CommandClients,
  'reader' | 'producer' | 'clock' | 'events' | 'inputs' | 'countPartitions' | 'close'
>

const description = [
  'Replays the dead letters (see `hookline dead-letters`) that match all filters, so that Hookline tries to deliver them again. Without filters, the command replays all dead letters. It first asks for a confirmation if it runs in a terminal and does not use the operator API.',
  'The replay writes the delivery to a retry topic. About 10 seconds later, Hookline makes the first attempt, only at the destination of the dead letter. The message id stays the same. The retry window starts again.',
  'If a dead letter has no destination, for example with the reason "unknown_source", the replay writes its event to the events topic again.',
  'If a dead letter contains the audience membership or computed trait of a user, Hookline sends the current value instead, unless the destination already has the current value.',
  `${operatorApiUse} With the operator API, the operator service replays the dead letters as a job, which continues after Ctrl-C and after a restart of any process.`,
  'A replay job waits until all earlier replay jobs have ended. With --destination, it also waits for earlier resend jobs of this destination. Without --destination, it waits for all earlier resend jobs.',
  'Without the operator API, the replay ends when you stop the command. If you run the command again, it skips dead letters that were already replayed. If the command was killed, the next replay may replay some dead letters a second time.',
  'Without the operator API, run only one replay at a time: two concurrent replays may replay the same dead letters. While a replay job runs, a replay without the operator API fails.',
  'Hookline cannot replay a dead letter if its destination is disabled or not in the configuration, or if the dead letter is truncated, is too large for the target topic, or was not written by Hookline. Hookline can replay the delete message of a deleted user only for about 50 days after the deletion.',
  'Hookline does not replay a delivery if the destination is no longer connected to the source of the event, or if the source is unknown because Hookline cannot decode the event. With --even-disconnected, Hookline replays these deliveries too.',
  'If a selected dead letter is not replayed, the command prints the reason, and the exit code is 1 (with --dry-run: 0).',
].join('\n\n')

const examples = [
  'hookline replay --destination crm --since 2h --dry-run',
  'hookline replay --destination crm --reason retries_exhausted --rate 50',
  'hookline replay --message-id 0d4f6e1c-3b52-4c1e-9a6d-5f0c2b7e8a11',
  'hookline replay --destination crm --operator-url http://127.0.0.1:8090',
  "hookline replay --reason unknown_source --json | jq '.byReason'",
]

/** `hookline replay` */
export function replayCommand(
  io: CommandIo,
  open: (settings: Settings, io: CommandIo) => ReplayAccess = openCommandClients,
): Command {
  const command = createCommand('replay', 'replay dead letters: try to deliver them again', io).description(description)
  withFilterOptions(withConfigOption(command), processClock.now())
    .option(
      '--rate <number>',
      `replay at most this number of dead letters per second (default: unlimited; maximum with --operator-url: ${maxJobRate})`,
      wholeNumber('--rate', 1),
    )
    .option('--dry-run', 'show what would be replayed and to which topic, and write nothing')
    .option(
      '--even-disconnected',
      'also replay deliveries whose destination is no longer connected to the source of the event, or whose source is unknown because the event cannot be decoded',
    )
    .action(async (options: Options) => (isJob(options, io) ? replayAsJob(options, io) : run(options, io, open)))
  withJobOptions(withOperatorOptions(command, operatorUrlText), 'replay')
  return withExamples(withJsonOption(command), examples)
}

const operatorUrlText =
  'replay as a job through the operator API at this URL (default without --config: the value of HOOKLINE_OPERATOR_URL)'

/**
 * Whether the command uses a job of the operator service.
 * @throws UsageError for options that exclude each other
 */
function isJob(options: Options, io: CommandIo): boolean {
  if (usesOperatorApi(options, io)) return true
  const hasJob = options.follow !== undefined || options.cancel !== undefined
  if (hasJob && options.config !== undefined)
    throw new UsageError('--follow and --cancel cannot be combined with --config')
  return hasJob
}

async function replayAsJob(options: Options, io: CommandIo): Promise<void> {
  const filters = apiFilterOf(filterOf(options))
  const { rate, dryRun, evenDisconnected } = options
  const isAll = Object.values(filters).every(each => each === undefined)
  if (isAll && dryRun !== true && options.follow === undefined && options.cancel === undefined)
    io.stderr.write('no filter is given, so all dead letters will be replayed\n')
  await runJob('replay', options, io, {
    body: () => ({ filters, rate, dryRun, evenDisconnected }),
    onFirstRequestRefused: refused => rejectUnknownOfJob(options, io, refused),
  })
}

/**
 * Throws if the service refused the job because of an unknown destination.
 * @throws CommandFailed if a dead letter has this destination, UsageError otherwise
 */
async function rejectUnknownOfJob(options: Options, io: CommandIo, { problems }: Refused): Promise<void> {
  const { destination } = options
  const problem = problems.find(({ path }) => path === 'filters.destination')
  if (destination === undefined || problem === undefined) return
  const client = await openLogClient(options, io)
  // If the dead letters cannot be read, the refusal of the job is shown.
  const found = await client.deadLetters({ destination }, 1).catch(() => undefined)
  if (found === undefined || 'kind' in found) return
  if (found.deadLetters.length > 0) throw removedDestination(destination)
  throw new UsageError(printable(`--destination: unknown value '${destination}' (${problem.hint})`))
}

async function run(
  options: Options,
  io: CommandIo,
  open: (settings: Settings, io: CommandIo) => ReplayAccess,
): Promise<void> {
  const filter = filterOf(options)
  const settings = await loadMergedSettings(options, io)
  const signal = io.stopSignal()
  const { dryRun = false, evenDisconnected = false, rate } = options
  const isAll = Object.values(filter).every(each => each === undefined)
  const context = { ...contextOf(settings), evenDisconnected }
  const bar = createProgressBar(io, options, barFormat(dryRun))
  const access = open(settings, io)
  try {
    if (!dryRun) await rejectIfJobActive(access, context.topics.jobs, io)
    const report = await replayDeadLetters(
      { ...access, context },
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
    if (countsOf(report).selected === 0) rejectUnknown(options.destination, report, context.routing)
    printResult(report, options, io)
  } finally {
    bar?.stop()
    await access.close()
  }
}

/**
 * Checks that no replay job is active, because the job and this command would replay the same dead
 * letters. Does not notice a job that is created later.
 * @throws CommandFailed
 */
async function rejectIfJobActive({ reader, clock }: ReplayAccess, topic: string, io: CommandIo): Promise<void> {
  const open = await openReplays({ reader, clock, topic })
  const active = open.find(({ isActive }) => isActive)
  if (active === undefined) {
    for (const { job } of open)
      io.stderr.write(
        printable(
          `hookline: the replay job ${job.id} is unfinished, and no process runs it now; if an operator service runs it while this command runs, both may replay the same dead letters`,
        ).concat('\n'),
      )
    return
  }
  const id = printable(active.job.id)
  throw new CommandFailed(
    `nothing replayed, because the replay job ${id} has not ended, and may replay the same dead letters; wait until the job ends, or cancel it with: hookline replay --cancel ${id} --operator-url <url>`,
  )
}

const barFormat = (dryRun: boolean): string =>
  `{bar} {percentage}% {value}/{total} dead letters checked, ${dryRun ? '' : '{replayed} replayed, '}{eta_formatted} left`

const contextOf = (settings: Settings) => ({
  topics: topicNames(settings.topics.prefix),
  routing: createRouting(settings),
  policy: retryPolicyOf(settings.delivery),
})

/**
 * Rejects an unknown `--destination`, except after an incomplete run: an unread dead letter could
 * have this destination.
 * @throws CommandFailed for a removed destination, UsageError otherwise
 */
function rejectUnknown(typed: string | undefined, { end, destinations }: ReplayReport, routing: Routing): void {
  if (typed === undefined || typed === noDestination || end.kind !== 'done') return
  if (routing.destinations.has(typed)) return
  if (destinations.has(typed)) throw removedDestination(typed)
  const names = [...new Set([...routing.destinations.keys(), ...destinations])]
  throw new UsageError(`--destination: unknown value '${typed}' (${adviceOnName(typed, names)})`)
}

const removedDestination = (id: string): CommandFailed =>
  new CommandFailed(
    `nothing replayed: the configuration has no usable destination '${id}'; add the destination or correct its problems, then replay its dead letters`,
  )

/**
 * Prints the report.
 * @throws the Kafka error of a failed run; CommandFailed if the user declined or interrupted the
 *   run, or if it did not replay all selected dead letters
 */
function printResult(report: ReplayReport, options: Options, io: CommandIo): void {
  const { dryRun = false } = options
  const { total, replayed, unmarked, end } = report
  const { selected, refused } = countsOf(report)
  if (total !== undefined && end.kind !== 'declined')
    printData(io, options, documentOf({ ...report, total }, dryRun), linesOf({ ...report, total }, dryRun))
  for (const hint of hintsOf(report)) io.stderr.write(`hookline: ${hint}\n`)
  if (unmarked > 0)
    io.stderr.write(
      `hookline: also replayed ${countWithNoun(unmarked, 'dead letter')}, but Kafka did not acknowledge the records that mark them as replayed; the next replay may replay them again, with the same message ids\n`,
    )
  switch (end.kind) {
    case 'failed':
      throw withRemedy(end.error)
    case 'declined':
      throw new CommandFailed('nothing replayed, because you did not confirm with "y"')
    case 'interrupted':
      if (dryRun)
        throw new CommandFailed('interrupted before all dead letters were checked; run the same command again')
      throw new CommandFailed(
        `interrupted: ${countWithNoun(replayed, 'dead letter')} replayed; run the same command again to replay the remaining ones`,
      )
    case 'done':
      if (refused > 0 && !dryRun)
        throw new CommandFailed(
          `${refused} of ${selected} selected dead letters were not replayed; see the reasons above`,
        )
  }
}

/**
 * Announces a replay without filters, and on a terminal requests confirmation. Resolves with
 * whether the replay may start.
 */
async function mayReplayAll(total: number, io: CommandIo, signal: AbortSignal): Promise<boolean> {
  const all = total === 1 ? 'the only dead letter' : `all ${total} dead letters`
  io.stderr.write(`no filter is given, so ${all} will be replayed\n`)
  if (io.stdin.isTTY !== true || io.stderr.isTTY !== true) return true
  io.stderr.write('continue? [y/N] ')
  // The end of stdin or a signal ends the loop.
  for await (const line of createInterface({ input: io.stdin, signal })) return /^y(es)?$/i.test(line.trim())
  io.stderr.write('\n')
  return false
}
