import { expect, it } from '@jest/globals'
import { killCoordinator, killLeader } from '../tools/chaos/broker-faults.ts'
import { runScenario } from '../tools/chaos/scenario-run.ts'
import { withRetries } from '../tools/chaos/setups.ts'

/** A short run of `make chaos`, with longer time limits for a busy machine. */
it('a leader and the coordinator are killed under load with retries: every acknowledged event is delivered', async () => {
  const row = await runScenario(
    {
      name: 'three-brokers',
      shows: 'a leader and the coordinator killed, one after the other',
      brokers: 3,
      processes: 2,
      load: { perSecond: 100, seconds: 5 },
      destinations: withRetries,
      delivery: { schedule: ['2s', '5s', '10s'] },
      faults: [killLeader, killCoordinator],
      limits: { duplicates: 50, bySender: 50, recoveryMs: 15_000, latestMs: 60_000 },
    },
    { seed: 1, patience: 4 },
  )
  expect(row.failures).toEqual([])
  expect(row).toMatchObject({ delivered: row.sent, lost: 0, deadLettered: 0 })
  expect(row.faults.map(each => each.replace(/\d$/, 'n'))).toEqual([
    'leader killed broker n',
    'coordinator killed broker n',
  ])
  expect(row.recoveryMs).toBeGreaterThan(0)
  // No process should lose a partition. Only retries of the load's producer and expired leases
  // cause duplicates.
  expect(row.duplicates).toBeLessThan(row.sent / 20)
  expect(row.calls).toBeGreaterThan(row.delivered + row.duplicates)
}, 480_000)
