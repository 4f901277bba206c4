import { targetOf } from './message-ledger.ts'
import { judgeLoss } from './reported-loss-verdict.ts'
import { outliveRetention, quickRetention, reportedLosses } from './retention-faults.ts'
import type { Scenario } from './scenario.ts'
import { standardSetup } from './setups.ts'

const processes = 2

export const retentionScenarios: readonly Scenario[] = [
  {
    ...standardSetup,
    name: 'retention',
    shows: 'all processes are stopped until the retention of Kafka has deleted unread records',
    processes,
    brokerProperties: quickRetention,
    load: { perSecond: 200, seconds: 20 },
    faults: [outliveRetention],
    limits: { duplicates: 0, recoveryMs: 10_000, latestMs: 40_000, orderedShare: 0.5, loss: 'examined' },
    // Deleted records never arrive, so do not wait long for them.
    settleMs: 15_000,
    examine: async world => {
      const { ledger } = world
      const delivered = new Set(ledger.deliveries.map(targetOf))
      const isComplete = (id: string): boolean =>
        standardSetup.destinations.every(destination => delivered.has(targetOf({ id, destination: destination.id })))
      const lost = Map.groupBy(ledger.acknowledged(), ({ id, partition }) => (isComplete(id) ? -1 : partition))
      lost.delete(-1)
      const names = Array.from({ length: processes * 2 }, (_, index) => `p${index + 1}`)
      return judgeLoss({
        lost: new Map([...lost].map(([partition, own]) => [partition, own.map(({ id }) => id)])),
        reported: await reportedLosses(world, names),
      })
    },
  },
]
