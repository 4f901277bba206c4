import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { startGuarded, tailOf } from '../../../../deploy/tools/local/guarded-process.ts'
import type { Installation } from '../installation.ts'
import { pinned } from '../pinning.ts'
import type { Stage } from '../stage.ts'

/** Where the events of one source go. */
export interface Target {
  readonly sourceId: string
  readonly url: string
}

/** What a forwarder is started for. */
export interface Job {
  readonly stage: Stage
  readonly installation: Installation
  /** By default everything goes from the first source to the receiver. A forwarder that knows no sources takes the first one for all. */
  readonly targets?: readonly Target[]
  /** Calls at once in the process. */
  readonly inFlight: number
  /** Calls at once to one webhook; as many as in the process. */
  readonly perWebhook?: number
  /** Write a CPU profile when it ends, if it is a Node program. */
  readonly profile?: boolean
}

export function targetsOf({ stage, installation, targets }: Job): readonly [Target, ...Target[]] {
  const [first, ...others] = targets ?? []
  const usual = { sourceId: installation.sourceIds[0] ?? '', url: stage.receiver.url }
  return [first ?? usual, ...others]
}

/** Something that takes events from a topic and makes requests of them. */
export interface Forwarder {
  readonly name: string
  /** Starts it, from where it has come to or from the beginning of the topic. Resolves when the process is there, not when it is ready. */
  start(job: Job): Promise<ForwarderProcess>
}

export interface ForwarderProcess {
  /** One, unless it is a crew. */
  readonly pids: readonly number[]
  /** Milliseconds since 1970, with fractions. */
  readonly startedAt: number
  /** Rejects when it ends before anybody has ended it, with the end of its log. */
  readonly died: Promise<never>
  /** Where its profile will be when it has stopped. */
  readonly profile: string | undefined
  /** SIGTERM; resolves when it is gone. */
  stop(): Promise<void>
  /** SIGKILL. */
  kill(): Promise<void>
}

/** Hookline lets calls under way end, at most 8 s. */
const stopPatienceMs = 15_000
const quiet = ['--disable-warning=TimeoutNegativeWarning']

/** Starts a forwarder's program on its core; its output goes to a file. */
export async function startProcess(
  { stage, installation }: Job,
  command: string,
  args: readonly string[],
  { env, profile }: { readonly env?: NodeJS.ProcessEnv; readonly profile?: string | undefined } = {},
): Promise<ForwarderProcess> {
  const file = join(await mkdtemp(join(installation.directory, 'run-')), 'output.log')
  const startedAt = performance.timeOrigin + performance.now()
  const child = startGuarded({
    ...pinned(stage.pinning.forwarder, command, args),
    // Under NODE_ENV=test kafkajs has other defaults.
    env: { ...process.env, NODE_ENV: 'production', ...env },
    output: { file },
  })
  const { promise: died, reject } = Promise.withResolvers<never>()
  died.catch(() => {})
  let isEnding = false
  void child.ended.then(async how => {
    if (!isEnding) reject(new Error(`a forwarder has ended by itself with ${how}: ${command}\n${await tailOf(file)}`))
  })
  return {
    pids: [child.pid],
    startedAt,
    died,
    profile,
    stop() {
      isEnding = true
      return child.stop(stopPatienceMs)
    },
    kill() {
      isEnding = true
      return child.kill()
    },
  }
}

/** The same for a Node program, with this Node. */
export async function startNode(
  job: Job,
  program: string,
  args: readonly string[],
  { flags = [], env = {} }: { readonly flags?: readonly string[]; readonly env?: NodeJS.ProcessEnv } = {},
): Promise<ForwarderProcess> {
  const directory = job.profile ? await mkdtemp(join(job.stage.directory, 'profile-')) : undefined
  const profiling =
    directory === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${directory}`, '--cpu-prof-name=forwarder.cpuprofile']
  const profile = directory && join(directory, 'forwarder.cpuprofile')
  return startProcess(job, process.execPath, [...flags, ...quiet, ...profiling, program, ...args], {
    env,
    profile,
  })
}
