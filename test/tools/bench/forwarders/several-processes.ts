import type { Forwarder, ForwarderProcess } from './forwarder.ts'

/** Makes a forwarder that runs several processes of `forwarder`, which share the partitions. */
export const severalProcesses = (forwarder: Forwarder, size: number): Forwarder => ({
  name: `${size} × ${forwarder.name}`,
  async start(job) {
    const members: ForwarderProcess[] = []
    for (let member = 0; member < size; member++) members.push(await forwarder.start(job))
    return asOne(members)
  },
})

/**
 * Combines several processes. `startedAt` is that of the earliest process. `died` rejects when any
 * of them exits by itself.
 */
export function asOne(members: readonly ForwarderProcess[]): ForwarderProcess {
  const died = Promise.race(members.map(member => member.died))
  died.catch(() => {})
  const all = async (end: (member: ForwarderProcess) => Promise<void>): Promise<void> => {
    await Promise.all(members.map(end))
  }
  return {
    pids: members.flatMap(({ pids }) => pids),
    startedAt: Math.min(...members.map(({ startedAt }) => startedAt)),
    died,
    profile: members[0]?.profile,
    stop: () => all(member => member.stop()),
    kill: () => all(member => member.kill()),
  }
}
