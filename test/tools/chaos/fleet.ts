import { join } from 'node:path'
import { type RunningService, startService } from '../../../deploy/tools/local/hookline-process.ts'
import type { ServiceName } from '../../../src/core/settings/service-names.ts'

/** Time limit for a stop, in ms. */
const stopLimitMs = 60_000

/** One process. The process that replaces it has another name. */
export interface Member {
  readonly name: string
  readonly service: RunningService
}

export interface Fleet {
  /** Processes that were started and not stopped, oldest first. */
  members(): readonly Member[]
  running(): readonly Member[]
  /** Resolves when the process is ready. `own` has environment variables for this process only. */
  start(own?: NodeJS.ProcessEnv): Promise<Member>
  /** Sends SIGTERM. Resolves with the exit code, or with null when the process had to be killed. */
  stop(member: Member): Promise<number | null>
  /** Sends SIGKILL. */
  kill(member: Member): Promise<void>
  /** Sends SIGSTOP. */
  freeze(member: Member): void
  /** Sends SIGCONT. */
  thaw(member: Member): void
  /** Processes that ended by themselves, each with its exit code. */
  crashes(): readonly string[]
  close(): Promise<void>
}

export interface FleetOptions {
  readonly configFile: string
  readonly brokers: readonly string[]
  /** Directory of the logs, `<name>.log`. */
  readonly directory: string
  readonly prefix: string
  /** Service that runs in each process; undefined means all services. */
  readonly service?: ServiceName | undefined
  readonly env?: NodeJS.ProcessEnv | undefined
  /** Time in ms for which the fleet restarts a process that ends before it is ready. Default: 0. */
  readonly triesForMs?: number
  readonly launch?: typeof startService
}

/** Creates a fleet. Each process has its name in the environment variable `CHAOS_PROCESS`. */
export function createFleet(options: FleetOptions): Fleet {
  const { configFile, brokers, directory, prefix, service, env: ofAll, triesForMs = 0 } = options
  const { launch: launchOne = startService } = options
  const members = new Set<Member>()
  const running = new Set<Member>()
  const crashes: string[] = []
  let count = 0
  const kill = async (member: Member): Promise<void> => {
    members.delete(member)
    await member.service.kill()
  }
  return {
    members: () => [...members],
    running: () => [...running],
    async start(own) {
      const name = `${prefix}${++count}`
      const env = { ...process.env, ...ofAll, ...own, KAFKA_BROKERS: brokers.join(','), CHAOS_PROCESS: name }
      const words = service === undefined ? [] : ['--services', service]
      const launch = () => launchOne(configFile, join(directory, `${name}.log`), env, words)
      const member = { name, service: await triedFor(triesForMs, launch) }
      members.add(member)
      running.add(member)
      void member.service.exited.then(code => {
        running.delete(member)
        if (members.has(member)) crashes.push(`${name} ended by itself with ${code}`)
      })
      return member
    },
    async stop(member) {
      members.delete(member)
      const limit = setTimeout(() => void member.service.kill(), stopLimitMs)
      return member.service.stop().finally(() => clearTimeout(limit))
    },
    kill,
    freeze: ({ service: { pid } }) => void process.kill(pid, 'SIGSTOP'),
    thaw: ({ service: { pid } }) => void process.kill(pid, 'SIGCONT'),
    crashes: () => [...crashes],
    close: async () => void (await Promise.all([...members].map(kill))),
  }
}

/** Repeats `attempt` until it succeeds, for at most `ms`. @throws the error of the last attempt */
async function triedFor<T>(ms: number, attempt: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + ms
  for (;;) {
    try {
      return await attempt()
    } catch (error) {
      if (performance.now() >= deadline) throw error
    }
  }
}
