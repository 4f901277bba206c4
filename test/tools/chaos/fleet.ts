import { join } from 'node:path'
import { type RunningService, startService } from '../../../deploy/tools/local/service-process.ts'
import type { ServiceName } from '../../../src/core/settings/service-names.ts'

/** Several times what a process may take that waits for its calls and its last commit. */
const stopLimitMs = 60_000

/** One life of a service process: the one that replaces it has another name. */
export interface Member {
  readonly name: string
  readonly service: RunningService
}

/** The processes of one installation. */
export interface Fleet {
  /** Those that were started and not ended, oldest first. */
  members(): readonly Member[]
  /** These, and those that are being ended: all whose process still runs. */
  running(): readonly Member[]
  /** Resolves when it is ready. `own` is added to its environment only. */
  start(own?: NodeJS.ProcessEnv): Promise<Member>
  /** SIGTERM; resolves with the exit code, or with null: it did not end within a minute, and was killed. */
  stop(member: Member): Promise<number | null>
  /** SIGKILL. */
  kill(member: Member): Promise<void>
  /** SIGSTOP: it stands still and knows nothing of it. */
  freeze(member: Member): void
  /** SIGCONT. */
  thaw(member: Member): void
  /** Processes that ended although nobody ended them, each with its exit code. */
  crashes(): readonly string[]
  /** Kills all that are left. */
  close(): Promise<void>
}

export interface FleetOptions {
  readonly configFile: string
  readonly brokers: readonly string[]
  /** Where the logs go: `<name>.log`. */
  readonly directory: string
  /** Names are this and a number. */
  readonly prefix: string
  /** What runs in each process; undefined: everything. */
  readonly service?: ServiceName | undefined
  /** Added to the environment of each. */
  readonly env?: NodeJS.ProcessEnv | undefined
  /** A process that ends before it is ready is started again for so long, as an orchestrator does; 0. */
  readonly triesForMs?: number
  /** Starts one; as a process of its own. */
  readonly launch?: typeof startService
}

/** `CHAOS_PROCESS` tells each process its name. */
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

/** @throws what it throws at the first try that ends when the time is over. */
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
