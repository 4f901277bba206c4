import { randomUUID } from 'node:crypto'
import type { Command } from 'commander'
import { processClock } from '../adapters/clock/process-clock.ts'
import { createJobClient, type JobClient, type ShownJob } from '../adapters/operator-client/job-client.ts'
import { OperatorApiFailed, type Refused } from '../adapters/operator-client/operator-request.ts'
import { countWithNoun } from '../core/count-with-noun.ts'
import type { JobKind } from '../core/jobs/job.ts'
import type { Clock } from '../core/ports.ts'
import { retryFor, withRetries } from '../core/retry-temporary-failures.ts'
import { sleep } from '../core/sleep-and-yield.ts'
import { durationMs } from '../core/time.ts'
import { problemText } from './commands/config-objects/throw-if-refused.ts'
import { CommandFailed, type CommandIo, printData, UsageError } from './create-command.ts'
import { jobLines } from './format-job-result.ts'
import { type OperatorOptions, operatorAddress } from './operator-api-options-and-clients.ts'
import { createProgressBar, printable } from './terminal-table-and-progress-bar.ts'

export interface JobOptions extends OperatorOptions {
  readonly follow?: string
  readonly cancel?: string
}

/** Time between two requests for the state of a job. */
const pollEvery = durationMs(1_000)
/** The codes of temporary failures, after which a request is repeated. */
const temporaryErrorCodes: ReadonlySet<string> = new Set(['unreachable', 'no_response', 'timeout', 'unavailable'])

/** Adds `--follow` and `--cancel`. */
export const withJobOptions = (command: Command, kind: JobKind): Command =>
  command
    .option(
      '--follow <id>',
      `show the progress of the ${kind} job with this id until the job ends`,
      idOf('--follow', kind),
    )
    .option('--cancel <id>', `cancel the ${kind} job with this id`, idOf('--cancel', kind))

/**
 * Returns a parser that rejects an empty id, for example from an unset shell variable.
 * @throws UsageError
 */
const idOf = (option: string, kind: JobKind) => (id: string) => {
  if (id !== '') return id
  throw new UsageError(
    `${option}: the id of a ${kind} must not be empty; use the id that the command printed when it created the ${kind}`,
  )
}

interface JobOfCommand {
  /** Returns the body of the request that creates the job. */
  readonly body: () => object
  /**
   * Called when the operator service refuses the first request, which creates, shows or cancels the
   * job. May throw a more precise error.
   */
  readonly onFirstRequestRefused?: (refused: Refused) => Promise<void>
  readonly clock?: Clock
}

/**
 * Creates or finds a job, and shows its progress. A signal ends only the command, not the job.
 * @throws CommandFailed, or UsageError if an option is missing or refused
 */
export async function runJob(
  kind: JobKind,
  options: JobOptions,
  io: CommandIo,
  { body, onFirstRequestRefused, clock = processClock }: JobOfCommand,
): Promise<void> {
  if (options.follow !== undefined && options.cancel !== undefined)
    throw new UsageError('use only one of --follow and --cancel')
  const address = await operatorAddress(options, io)
  const signal = io.stopSignal()
  const context = { client: createJobClient(address, signal), io, options, clock, signal }
  const answer = await firstAnswer(kind, body, context)
  if (answer.kind === 'refused') await onFirstRequestRefused?.(answer)
  const first = throwIfRefused(answer, kind)
  if (options.follow === undefined && options.cancel === undefined)
    io.stderr.write(
      `hookline: ${kind} ${first.id} created as a job of the operator service; this command shows the result when the job ends\n`,
    )
  const last = await followed(first, context)
  const { kind: _, ...shown } = last
  printData(io, options, { kind, ...shown }, jobLines(last))
  judge(last, options)
}

interface Context {
  readonly client: JobClient
  readonly io: CommandIo
  readonly options: JobOptions
  readonly clock: Clock
  readonly signal: AbortSignal
}

function firstAnswer(kind: JobKind, body: () => object, context: Context): Promise<ShownJob | Refused> {
  const { client, options } = context
  if (options.cancel !== undefined) return client.cancel(kind, options.cancel)
  return options.follow === undefined ? created(kind, body(), context) : client.get(kind, options.follow)
}

/**
 * Creates a job. If the response is lost, repeats the request with the same idempotency key, so
 * that only one job is created.
 * @throws CommandFailed
 */
async function created(kind: JobKind, body: object, context: Context): Promise<ShownJob | Refused> {
  const { client, io } = context
  const idempotencyKey = randomUUID()
  const send = () => client.create(kind, body, idempotencyKey)
  try {
    return await send()
  } catch (error) {
    if (!isTemporary(error) || error.code === 'unreachable') throw error
    io.stderr.write(
      `hookline: the operator service did not confirm that the ${kind} was created (${error.code}); the command repeats the request for up to ${retryFor / 1_000} s; this does not create a second ${kind}\n`,
    )
  }
  try {
    return await withRetries(send, isTemporary, context)
  } catch (error) {
    throw new CommandFailed(
      `the ${kind} may have been created: look for it in the console or with GET /v1/${kind}s before you run the command again; the last error: ${(error as Error).message}`,
      { cause: error },
    )
  }
}

const isTemporary = (error: unknown): error is OperatorApiFailed =>
  error instanceof OperatorApiFailed && temporaryErrorCodes.has(error.code)

async function followed(first: ShownJob, context: Context): Promise<ShownJob> {
  const { client, io, options, clock, signal } = context
  const { kind, id } = first
  const bar = createProgressBar(io, options, '{bar} {percentage}% {value}/{total} {noun} read, {done} {verb}, {state}')
  let job = first
  let shownError: string | undefined
  bar?.start(totalOf(job), fieldsOf(job))
  try {
    while (job.state === 'waiting' || job.state === 'running') {
      const { error } = job
      if (error !== undefined && error !== shownError) {
        // Remove the progress bar first, because the error text is written to the same terminal
        // line.
        bar?.stop()
        io.stderr.write(
          `hookline: ${printable(`${kind} ${id}: the operator service tries again after an error: ${error}`)}\n`,
        )
      }
      shownError = error
      await sleep(clock, pollEvery, signal)
      if (signal.aborted) break
      job = throwIfRefused(await withRetries(() => client.get(kind, id), isTemporary, context), kind)
      bar?.start(totalOf(job), fieldsOf(job))
      bar?.update(job.progress.seen ?? job.progress.read ?? 0, fieldsOf(job))
    }
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    bar?.stop()
  }
  if (!signal.aborted) return job
  const command = `hookline ${kind}`
  throw new CommandFailed(
    `the command no longer follows ${kind} ${id}, which continues in the operator service; to follow it, run: ${command} --follow ${id}; to cancel it, run: ${command} --cancel ${id}`,
  )
}

const totalOf = ({ progress }: ShownJob): number => progress.total ?? 0
const fieldsOf = ({ kind, state, progress }: ShownJob) => ({
  ...{ state, done: progress.replayed ?? progress.sent ?? 0 },
  ...(kind === 'replay' ? { noun: 'dead letters', verb: 'replayed' } : { noun: 'events', verb: 'resent' }),
})

function throwIfRefused(answer: ShownJob | Refused, kind: JobKind): ShownJob {
  if (answer.kind !== 'refused') return answer
  const { code, message, problems } = answer
  const text = printable([`${kind}: ${message} (${code})`, ...problems.map(problemText)].join('; '))
  // The command made the body from its options, so an invalid body means an invalid option.
  throw code === 'invalid_body' ? new UsageError(text) : new CommandFailed(text)
}

/**
 * Checks the result of a job that has ended.
 * @throws CommandFailed if the job did not succeed completely
 */
function judge(job: ShownJob, { cancel }: JobOptions): void {
  const { kind, id, state, error, dryRun } = job
  if (state === 'failed')
    throw new CommandFailed(printable(`${kind} ${id} failed: ${error ?? 'the operator service gave no reason'}`))
  if (state === 'cancelled') {
    if (cancel !== undefined) return
    throw new CommandFailed(`${kind} ${id} was cancelled`)
  }
  const gaps = gapsOf(job)
  if (gaps.length > 0 && dryRun !== true) throw new CommandFailed(gaps.join('; '))
}

function gapsOf({ progress: { refused = 0, tooLarge = 0 } }: ShownJob): readonly string[] {
  return [
    refused > 0 &&
      `${countWithNoun(refused, 'selected dead letter')} not replayed; the column REFUSAL (with --json, the field "refusal") says why`,
    tooLarge > 0 &&
      `${countWithNoun(tooLarge, 'selected event')} not resent, because they are too large for the retry topic; raise max.message.bytes of the retry topics, then resend again`,
  ].filter(text => text !== false)
}
