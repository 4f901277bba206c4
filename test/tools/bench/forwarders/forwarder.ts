import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { startGuarded, tailOf } from '../../../../deploy/tools/local/guarded-process.ts'
import { pinned } from '../cpu-pinning.ts'
import type { Installation } from '../installation-topics.ts'
import type { Stage } from '../test-bed.ts'

/** Destination of the events of one source. */
export interface Target {
  readonly sourceId: string
  readonly url: string
  /** Value of `policy` in the configuration of the destination. Only Hookline uses it. */
  readonly policy?: object
}

/** Parameters with which a forwarder starts. */
export interface Job {
  readonly stage: Stage
  readonly installation: Installation
  /**
   * The destinations of the events, by source. Default: the receiver, for the events of the first
   * source. A forwarder that does not distinguish sources sends all events to the first target.
   */
  readonly targets?: readonly Target[]
  /** Maximum number of concurrent requests of the process. */
  readonly inFlight: number
  /** Maximum number of concurrent requests to one webhook. Default: `inFlight`. */
  readonly perWebhook?: number
  /** Whether the program writes a CPU profile when it exits. Only for programs that run in Node. */
  readonly profile?: boolean
}

export function targetsOf({ stage, installation, targets }: Job): readonly [Target, ...Target[]] {
  const [first, ...others] = targets ?? []
  const usual = { sourceId: installation.sourceIds[0] ?? '', url: stage.receiver.url }
  return [first ?? usual, ...others]
}

/** A program that reads events from a topic and sends them as requests. */
export interface Forwarder {
  readonly name: string
  /**
   * Starts a process that reads from the committed offsets of its group. Without commits it reads
   * from the start of the topic. Resolves when the process exists, before it is ready.
   */
  start(job: Job): Promise<ForwarderProcess>
}

export interface ForwarderProcess {
  /** Process ids: one id, or several with `severalProcesses`. */
  readonly pids: readonly number[]
  /** Start of the process, in milliseconds since 1970, with fractions. */
  readonly startedAt: number
  /** Rejects when the process exits by itself. The error contains the last lines of the log. */
  readonly died: Promise<never>
  /** Path of the CPU profile, which exists after the process has ended. */
  readonly profile: string | undefined
  /** Sends SIGTERM. Resolves when the process has ended. */
  stop(): Promise<void>
  /** Sends SIGKILL. */
  kill(): Promise<void>
}

/** Time limit for a stop, in ms. Hookline waits up to 8 s for requests in progress. */
const stopPatienceMs = 15_000
const quiet = ['--disable-warning=TimeoutNegativeWarning']

/** Starts the program of a forwarder on the forwarder's core. Its output goes to a file. */
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
    // kafkajs has other defaults with NODE_ENV=test.
    env: { ...process.env, NODE_ENV: 'production', ...env },
    output: { file },
  })
  const { promise: died, reject } = Promise.withResolvers<never>()
  died.catch(() => {})
  let isEnding = false
  void child.ended.then(async how => {
    if (!isEnding) reject(new Error(`a forwarder exited by itself with ${how}: ${command}\n${await tailOf(file)}`))
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

/** Like `startProcess`, for a program that runs in the same version of Node as the bench. */
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
  return startProcess(job, process.execPath, [...flags, ...quiet, ...profiling, program, ...args], { env, profile })
}
