import { expect, it } from '@jest/globals'
import type { RunningService } from '../../../../deploy/tools/local/hookline-process.ts'
import { createFleet } from '../fleet.ts'

it('counts a process that ends by itself as crashed, even when a fault would end it next', async () => {
  const exits: ((code: number | null) => void)[] = []
  const launch = async (): Promise<RunningService> => {
    const exit = Promise.withResolvers<number | null>()
    exits.push(exit.resolve)
    const end = async (): Promise<null> => {
      exit.resolve(null)
      return null
    }
    return { exited: exit.promise, stop: end, kill: async () => void (await end()) } as RunningService
  }
  const fleet = createFleet({ configFile: '', brokers: [], directory: '', prefix: 'p', launch })
  const [crashed, killed, stopped] = [await fleet.start(), await fleet.start(), await fleet.start()]
  exits[0]?.(134)
  await crashed.service.exited
  for (const member of [crashed, killed]) await fleet.kill(member)
  await fleet.stop(stopped)
  expect(fleet.crashes()).toEqual(['p1 ended by itself with 134'])
})
