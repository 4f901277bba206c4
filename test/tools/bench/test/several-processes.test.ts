import { describe, expect, it } from '@jest/globals'
import type { Forwarder, Job } from '../forwarders/forwarder.ts'
import { severalProcesses } from '../forwarders/several-processes.ts'

describe('a group of forwarder processes', () => {
  const ends: string[] = []
  const deaths: ((why: Error) => void)[] = []
  const forwarder: Forwarder = {
    name: 'hookline',
    async start() {
      const number = deaths.length
      const { promise: died, reject } = Promise.withResolvers<never>()
      deaths.push(reject)
      return {
        ...{ pids: [100 + number], startedAt: 1_000 - number, died, profile: undefined },
        async stop() {
          ends.push(`stop ${number}`)
        },
        async kill() {
          ends.push(`kill ${number}`)
        },
      }
    },
  }

  it('starts, measures and stops its members together, and fails with the first of them', async () => {
    const started = await severalProcesses(forwarder, 2).start({} as Job)
    expect(started).toMatchObject({ pids: [100, 101], startedAt: 999 })
    await started.stop()
    await started.kill()
    expect(ends).toEqual(['stop 0', 'stop 1', 'kill 0', 'kill 1'])
    deaths[1]?.(new Error('out of memory'))
    await expect(started.died).rejects.toThrow('out of memory')
  })
})
