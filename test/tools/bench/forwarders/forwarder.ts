import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { startGuarded, tailOf } from '../../../../deploy/tools/local/guarded-process.ts'
import { pinned } from '../cpu-pinning.ts'
import type { Installation } from '../installation-topics.ts'
import type { Stage } from '../test-bed.ts'

export interface Target {
  readonly sourceId: string
  readonly url: string
  readonly policy?: object
}

export interface Job {
  readonly stage: Stage
  readonly installation: Installation
  /**
   * Default: the receiver, for the events of the first source. Some forwarders send all events to
   * the first target.
   */
  readonly targets?: readonly Target[]
  /** Maximum concurrent requests of the process. */
  readonly inFlight: number
  /** Maximum concurrent requests to one webhook. Default: `inFlight`. */
  readonly perWebhook?: number
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
   * Starts a process, which reads from the committed offsets of its group, or else from the start
   * of the topic. Resolves before the process is ready.
   */
  start(job: Job): Promise<ForwarderProcess>
}

export interface ForwarderProcess {
  /** Several with `severalProcesses`. */
  readonly pids: readonly number[]
  /** In ms since 1970, with fractions. */
  readonly startedAt: number
  /** Rejects with the last lines of the log when the process exits by itself. */
  readonly died: Promise<never>
  /** Path of the CPU profile, which exists after the end of the process. */
  readonly profile: string | undefined
  /** Sends SIGTERM and waits for the end. */
  stop(): Promise<void>
  kill(): Promise<void>
}

/** In ms: longer than the 8 s for which Hookline waits for requests in progress. */
const stopPatienceMs = 15_000
const quiet = ['--disable-warning=TimeoutNegativeWarning']

/** Starts a forwarder's program on its core. The output goes to a file. */
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
    env: { ...process.env, NODE_ENV: 'production', ...trusting(stage), ...env },
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

/** Makes Node and Go trust the authority of the receiver's certificate. */
const trusting = ({ authorityFile: file }: Stage): NodeJS.ProcessEnv =>
  file === undefined ? {} : { NODE_EXTRA_CA_CERTS: file, SSL_CERT_FILE: file }

/** Like `startProcess`, with the bench's version of Node. */
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
