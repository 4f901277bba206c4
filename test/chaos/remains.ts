import type { RecordHeaders } from '../../src/core/ports.ts'
import { tiersOf } from '../../src/core/topics.ts'
import { parseDuration } from '../../src/core/units.ts'
import { targetOf } from './ledger.ts'
import type { World } from './world.ts'

/* What lies in Kafka after the end. Targets are `<destination> <message id>`. */

/** After an orderly end everything that was read is done, and so committed. */
export async function uncommitted({ view, pipeline }: Pick<World, 'view' | 'pipeline'>): Promise<string[]> {
  const { dispatcherGroup, events } = pipeline.topics
  const [committed, ends] = [await view.committed(dispatcherGroup, events), await view.ends(events)]
  return [...ends].flatMap(([partition, end]) => {
    const offset = committed.get(partition) ?? 0
    return offset === end ? [] : [`partition ${partition} ends at ${end} and is committed up to ${offset}`]
  })
}

/** Targets that were given up, and why. */
export async function deadLetters({ pipeline }: World): Promise<ReadonlyMap<string, string>> {
  const records = await pipeline.read(pipeline.topics.deadLetter)
  return new Map(records.map(({ headers }) => [targetIn(headers), headers['reason'] ?? 'none']))
}

/** What waits in the retry topics: what the group has not come to yet. Whatever it has passed by is no excuse. */
export async function parkedRecords(
  { pipeline, view }: World,
  schedule: readonly string[],
): Promise<ReadonlySet<string>> {
  const { topics } = pipeline
  const parked = new Set<string>()
  for (const tier of tiersOf(schedule.flatMap(text => parseDuration(text) ?? []))) {
    const topic = topics.retry(tier)
    const committed = await view.committed(topics.retriesGroup, topic)
    for (const { partition, offset, headers } of await pipeline.read(topic))
      if (offset >= (committed.get(partition) ?? 0)) parked.add(targetIn(headers))
  }
  return parked
}

const targetIn = (headers: RecordHeaders): string =>
  targetOf({ destination: headers['destination'] ?? '', id: headers['message-id'] ?? '' })
