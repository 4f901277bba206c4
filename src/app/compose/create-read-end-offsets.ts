import { createLogSessions } from '../../adapters/kafka/log/log-sessions.ts'
import type { ReadEndOffsets } from '../../services/partitions/read-end-offsets-for-lag.ts'
import type { SharedDependencies } from './shared-dependencies.ts'

/** Starts a reader of end offsets. Its connection opens with the first read. */
export async function startEndOffsetReader({ kafka, clock, lifecycle }: SharedDependencies): Promise<ReadEndOffsets> {
  const sessions = createLogSessions({ kafka, clock })
  await lifecycle.start({ name: 'reader of end offsets', stop: sessions.close })
  return async topic => (await sessions.use(session => session.ranges(topic))).map(({ end }) => end)
}
