import { open } from 'node:fs/promises'
import { addAbortSignal, type Readable } from 'node:stream'
import { linesOf } from '../../../adapters/streams/plain-or-gzip-lines.ts'
import type { SyncMode } from '../../../core/audience/audience-watermark.ts'
import type { Audience } from '../../../core/audience/configured-audiences.ts'
import { newSyncId, syncBegan } from '../../../core/audience/sync-id.ts'
import { countWithNoun } from '../../../core/count-with-noun.ts'
import { maxMessageBytes } from '../../../core/message/message-size-limits.ts'
import { toIsoTimestamp } from '../../../core/message/timestamp.ts'
import { type WaitReport, waitForSync } from '../../../services/operator/wait-for-sync.ts'
import { type SyncReport, writeSync } from '../../../services/operator/write-sync-members-and-end.ts'
import { CommandFailed, type CommandIo, printData, UsageError, withRemedy } from '../../create-command.ts'
import { createProgressBar } from '../../terminal-table-and-progress-bar.ts'
import {
  type AudienceOptions,
  type AudienceTask,
  audienceNamed,
  inputsOf,
  membershipsOf,
} from './subcommand-context.ts'

interface Options extends AudienceOptions {
  readonly name: string
  readonly members: string
  readonly partial?: boolean
  readonly allowEmpty?: boolean
  readonly wait?: boolean
}

interface Run {
  readonly task: AudienceTask
  readonly options: Options
  readonly audience: Audience
  readonly mode: SyncMode
  readonly list: MemberList
  readonly signal: AbortSignal
}

/** The result of `--wait`, and the duration of the wait. */
interface TimedWait extends WaitReport {
  readonly waitSeconds: number
}

/** `hookline audience sync` */
export async function syncAudience(task: AudienceTask, options: Options): Promise<void> {
  const { access, io } = task
  const audience = audienceNamed(task, options.name)
  if (audience.destinations.size === 0)
    io.stderr.write(
      `hookline: audience ${audience.name} has no enabled destination, so the sync sends no changes; add a destination to this audience in audiences.list, or enable one of the destinations of the audience\n`,
    )
  const mode = options.partial === true ? 'partial' : 'full'
  const list = await openMemberList(options.members, io)
  const run = { task, options, audience, mode, list, signal: io.stopSignal() } as const
  const startedAt = access.clock.monotonic()
  const report = await upload(run)
  const seconds = (access.clock.monotonic() - startedAt) / 1_000
  const isAwaited = report.end.kind === 'ended' && options.wait === true
  const delivery = isAwaited ? await awaitDelivery(run, report).catch(failed) : undefined
  printResult(run, report, delivery, seconds)

  function failed(error: unknown): never {
    printResult(run, report, undefined, seconds)
    const reason = run.signal.aborted ? 'interrupted' : (withRemedy(error) as Error).message
    throw new CommandFailed(`${reason}; ${completeUpload}`, { cause: error })
  }
}

/**
 * Uploads the members.
 * @throws CommandFailed when the list cannot be read to its end; KafkaError
 */
async function upload({ task, options, audience, mode, list, signal }: Run): Promise<SyncReport> {
  const { access, io } = task
  const inputs = await inputsOf(task)
  const syncId = newSyncId(await access.brokerTime(), access.clock.id())
  const isSized = list.size !== undefined
  const format = isSized
    ? '{bar} {percentage}% {members} members uploaded, {eta_formatted} left'
    : '{members} members uploaded'
  const bar = createProgressBar(io, options, format)
  bar?.start(list.size ?? 0, { members: 0 })
  let received = 0
  async function* lines(): AsyncGenerator<readonly (string | undefined)[]> {
    try {
      yield* list.lines(signal)
    } catch (error) {
      if (signal.aborted) throw error
      throw new CommandFailed(`${list.name}: ${(error as Error).message}; ${incompleteSync(received)}`, {
        cause: error,
      })
    }
  }
  try {
    return await writeSync(inputs, lines(), {
      audience,
      mode,
      signal,
      syncId,
      allowEmpty: options.allowEmpty === true,
      onProgress(members) {
        received = members
        bar?.update(isSized ? list.bytesRead : members, { members })
      },
    })
  } finally {
    bar?.stop()
  }
}

async function awaitDelivery({ task, options, audience, mode, signal }: Run, report: SyncReport): Promise<TimedWait> {
  const { access, topics, io } = task
  const startedAt = access.clock.monotonic()
  const bar = createProgressBar(io, options, '{bar} {percentage}% {value}/{total} {what}')
  let total = 0
  const deps = {
    ...(await membershipsOf(task)),
    clock: access.clock,
    positions: access.positions,
    inputTopic: topics.audienceInput,
    audiencesGroup: topics.audiencesGroup,
  }
  try {
    const waited = await waitForSync(deps, {
      audience,
      mode,
      signal,
      syncId: report.syncId,
      onProgress(progress) {
        if (progress.kind === 'handling_inputs') {
          total = Math.max(total, progress.left)
          bar?.start(total, { what: 'members processed' })
          return bar?.update(total - progress.left)
        }
        const { delivered, undelivered, waiting } = progress
        bar?.start(delivered + undelivered + waiting, { what: 'memberships delivered or failed' })
        bar?.update(delivered + undelivered)
      },
    })
    return { ...waited, waitSeconds: (access.clock.monotonic() - startedAt) / 1_000 }
  } finally {
    bar?.stop()
  }
}

/**
 * Prints the result. `seconds` is the duration of the upload.
 * @throws CommandFailed when the sync or `--wait` has failed
 */
function printResult(
  { task, options, audience, mode, list }: Run,
  report: SyncReport,
  delivery: TimedWait | undefined,
  seconds: number,
): void {
  const { syncId, received, end } = report
  const { end: waitEnd, ...counts } = delivery ?? {}
  const data = { audience: audience.name, mode, syncId, received, end: end.kind, seconds, ...counts }
  if (end.kind === 'ended')
    printData(task.io, options, data, [
      `${mode} sync ${syncId} of ${audience.name}: ${countWithNoun(received, 'member')} uploaded in ${seconds.toFixed(1)} s`,
      ...(delivery === undefined ? [] : [countsOf(delivery)]),
    ])
  switch (end.kind) {
    case 'refused':
      throw new CommandFailed(`${list.name}: ${end.message}; ${incompleteSync(received)}`)
    case 'empty':
      throw new CommandFailed(
        `${list.name} is empty, which would remove all members; if that is intended, use --allow-empty`,
      )
    case 'interrupted':
      throw new CommandFailed(`interrupted; ${incompleteSync(received)}`)
    case 'ended':
      if (waitEnd === 'interrupted') throw new CommandFailed(`interrupted; ${completeUpload}`)
      if (delivery?.ahead !== undefined)
        throw new CommandFailed(
          `this sync had no effect, because an earlier sync has a later start time (${toIsoTimestamp(syncBegan(delivery.ahead))}): a clock was ahead during the earlier sync; run \`hookline audience reset --name ${JSON.stringify(audience.name)}\`, then sync again`,
        )
      if (delivery?.unapplied !== undefined)
        throw new CommandFailed(
          `the sync is incomplete: in ${countWithNoun(delivery.unapplied, 'partition')} of the audience-input topic, Hookline did not remove the users who are missing from the list (see the log of the audiences service); if no newer full sync has begun, wait two minutes, then sync the whole list again`,
        )
      if (delivery !== undefined && delivery.undelivered > 0)
        throw new CommandFailed(
          `${countWithNoun(delivery.undelivered, 'change')} not delivered; the next full sync sends undelivered changes again; to see them, run: hookline audience drift --name ${JSON.stringify(audience.name)}`,
        )
  }
}

const completeUpload = 'the upload is complete, and Hookline continues to deliver the changes'

const incompleteSync = (received: number): string =>
  `the sync is incomplete: Hookline applied ${countWithNoun(received, 'line')} and did not remove the members who are missing from the list; sync the whole list again`

function countsOf({ delivered, waiting, undelivered, waitSeconds }: TimedWait): string {
  const counts = [
    `${delivered} delivered`,
    ...(waiting > 0 ? [`${waiting} still waiting`] : []),
    ...(undelivered > 0 ? [`${undelivered} not delivered`] : []),
  ]
  return `memberships: ${counts.join(', ')} (the command waited for ${waitSeconds.toFixed(1)} s)`
}

/** A list of members that is read as a stream. */
export interface MemberList {
  /** The path of the file, or `stdin`. */
  readonly name: string
  /** Size in bytes; `undefined` if it is not known, for example for stdin or a pipe. */
  readonly size: number | undefined
  readonly bytesRead: number
  /**
   * The lines (see `linesOf`). Can be read only once.
   * @throws if `signal` is aborted or the file is unreadable
   */
  lines(signal: AbortSignal): AsyncIterable<readonly (string | undefined)[]>
}

/** Opens the value of `--members`: a file, or `-` for stdin. @throws UsageError if unreadable */
async function openMemberList(file: string, { stdin }: CommandIo): Promise<MemberList> {
  if (file === '-') return listOf('stdin', undefined, stdin)
  try {
    const handle = await open(file)
    const status = await handle.stat()
    if (!status.isDirectory()) return listOf(file, status.size || undefined, handle.createReadStream())
    await handle.close()
  } catch (error) {
    throw new UsageError(`--members: ${(error as Error).message}`)
  }
  throw new UsageError(`--members: ${file} is a directory; name a file, or - for stdin`)
}

function listOf(name: string, size: number | undefined, stream: Readable): MemberList {
  let bytesRead = 0
  async function* pieces(): AsyncGenerator<Buffer> {
    for await (const piece of stream) {
      const bytes = Buffer.from(piece)
      bytesRead += bytes.length
      yield bytes
    }
  }
  return {
    name,
    size,
    get bytesRead() {
      return bytesRead
    },
    lines: signal => {
      addAbortSignal(signal, stream)
      return linesOf(pieces(), maxMessageBytes)
    },
  }
}
