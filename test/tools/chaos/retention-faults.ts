import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { topicConfig, topicSpecs } from '../../../src/core/topics.ts'
import { createAdminClient } from '../../support/kafka/admin.ts'
import { allPartitions, now, onPartitions } from './recovery-condition.ts'
import { disagreement, type ReportedLoss } from './reported-loss-verdict.ts'
import type { Fault } from './scenario.ts'
import { started, stopAll } from './scenario-run.ts'
import { partitions, type World } from './world.ts'

/** Broker properties for frequent checks of the retention, which `outliveRetention` needs. */
export const quickRetention = { 'log.retention.check.interval.ms': '500', 'log.initial.task.delay.ms': '500' } as const
const short = { 'retention.ms': '2000', 'segment.ms': '1000' } as const
const patienceMs = 60_000

/**
 * Stops all processes until Kafka, with a short retention, has deleted unread records of each
 * partition.
 */
export const outliveRetention: Fault = {
  name: 'retention',
  async inject(world) {
    const { fleet, view, installation, cluster, patience } = world
    const { dispatcherGroup, events } = installation.topics
    const at = now()
    const count = fleet.members().length
    const codes = await stopAll(fleet)
    const problems = codes.flatMap(([name, code]) => (code === 0 ? [] : [`${name} ended with exit code ${code}`]))
    const committed = await view.committed(dispatcherGroup, events)
    const admin = await createAdminClient(cluster.brokers.join(','))
    try {
      const usual = usualConfig(events)
      await admin.setTopicConfig(events, { ...usual, ...short })
      const isOutlived = async (): Promise<boolean> => {
        const beginnings = await view.beginnings(events)
        return [...beginnings].every(([partition, offset]) => offset > (committed.get(partition) ?? 0))
      }
      for (const deadline = now() + patienceMs * patience; !(await isOutlived()); await delay(200))
        if (now() > deadline) throw new Error('retention deleted nothing')
      await admin.setTopicConfig(events, usual)
    } finally {
      await admin.close()
    }
    // Waits for the broker, which may still delete a segment that has already expired.
    await delay(2_000)
    const from = now()
    await started(fleet, count)
    return {
      ...{ what: 'all processes', at, problems },
      recovery: onPartitions(allPartitions, from),
      heal: async () =>
        disagreement(
          await reportedLosses(
            world,
            fleet.members().map(({ name }) => name),
          ),
          await countedLosses(world),
        ),
    }
  },
}

function usualConfig(events: string): Readonly<Record<string, string>> {
  const prefix = events.slice(0, -'.events'.length)
  const spec = topicSpecs({ prefix, partitions, replicationFactor: 1 }, []).find(({ name }) => name === events)
  if (spec === undefined) throw new Error(`${events} has no topic specification`)
  return topicConfig(spec)
}

export async function reportedLosses(
  { directory, installation }: World,
  processes: readonly string[],
): Promise<ReportedLoss[]> {
  const logs = await Promise.all(
    processes.map(async process => ({ process, text: await readFile(join(directory, `${process}.log`), 'utf8') })),
  )
  return logs.flatMap(({ process, text }) =>
    text
      .split('\n')
      .filter(line => line.includes('before Hookline read them'))
      .map(line => JSON.parse(line) as ReportedLoss & { readonly topic: string })
      .filter(({ topic }) => topic === installation.topics.events)
      .map(({ partition, from, to }) => ({ process, partition, from, to })),
  )
}

async function countedLosses({ fleet, installation }: World): Promise<number> {
  const metrics = await Promise.all(fleet.members().map(({ service }) => service.metrics()))
  const name = `hookline_positions_lost_total{topic="${installation.topics.events}"}`
  return metrics.reduce((sum, each) => sum + (each.get(name) ?? 0), 0)
}
