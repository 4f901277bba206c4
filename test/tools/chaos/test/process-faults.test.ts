import { expect, it } from '@jest/globals'
import type { Member } from '../fleet.ts'
import { killProcess, killProcesses, restartOldest } from '../process-faults.ts'
import type { Fault } from '../scenario.ts'
import { createChance } from '../seeded-random.ts'
import type { World } from '../world.ts'

/**
 * Returns 100 processes, of which only the newest owns partitions. `ended` names the processes that
 * a fault ends.
 */
function mostlyIdle() {
  const members = Array.from({ length: 100 }, (_, index) => ({ name: `p${index}` }) as Member)
  const ended: string[] = []
  const end = async ({ name }: Member): Promise<number> => {
    ended.push(name)
    return 0
  }
  const fleet = { members: () => members, stop: end, kill: end, start: async () => members[0] }
  const ledger = { owners: () => new Map([2, 5].map(partition => [partition, 'p99'] as const)) }
  return { ended, world: { fleet, ledger, chance: createChance(1, 'idle') } as unknown as World }
}

it.each<[name: string, fault: Fault, count: number]>([
  ['a restart', restartOldest, 1],
  ['a kill', killProcess, 1],
  ['a kill of three', killProcesses(3), 3],
])('%s ends a process that owns partitions', async (_, fault, count) => {
  const { ended, world } = mostlyIdle()
  const { recovery } = await fault.inject(world)
  expect(new Set(ended).size).toBe(count)
  expect(ended).toContain('p99')
  expect(recovery.keys).toEqual(new Set(['2', '5']))
})
