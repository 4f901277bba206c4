import { join } from 'node:path'
import { type RunningService, startService } from '../../deploy/local/service-process.ts'

/** One life of a service process: the one that replaces it has another name. */
export interface Member {
  readonly name: string
  readonly service: RunningService
}

/** The processes of one installation. */
export interface Fleet {
  /** Those that were started and not ended, oldest first. */
  members(): readonly Member[]
  /** Resolves when it is ready. */
  start(): Promise<Member>
  /** SIGTERM; resolves with the exit code. */
  stop(member: Member): Promise<number | null>
  /** SIGKILL. */
  kill(member: Member): Promise<void>
  /** SIGSTOP: it stands still and knows nothing of it. */
  freeze(member: Member): void
  /** SIGCONT. */
  thaw(member: Member): void
  /** Kills all that are left. */
  close(): Promise<void>
}

/** `CHAOS_PROCESS` tells each process its name; its log is `<name>.log` in the directory. */
export function createFleet(configFile: string, brokers: readonly string[], directory: string): Fleet {
  const members = new Set<Member>()
  let lives = 0
  const kill = async (member: Member): Promise<void> => {
    members.delete(member)
    await member.service.kill()
  }
  return {
    members: () => [...members],
    async start() {
      const name = `p${++lives}`
      const env = { ...process.env, KAFKA_BROKERS: brokers.join(','), CHAOS_PROCESS: name }
      const member = { name, service: await startService(configFile, join(directory, `${name}.log`), env) }
      members.add(member)
      return member
    },
    async stop(member) {
      members.delete(member)
      return member.service.stop()
    },
    kill,
    freeze: ({ service }) => void process.kill(service.pid, 'SIGSTOP'),
    thaw: ({ service }) => void process.kill(service.pid, 'SIGCONT'),
    close: async () => void (await Promise.all([...members].map(kill))),
  }
}
