import type { Clock } from '../../../core/ports.ts'
import { sleep } from '../../../core/sleep-and-yield.ts'
import type { DurationMs } from '../../../core/time.ts'
import type { Cluster } from './private-api.ts'

/** Waits and then refreshes the metadata, before the retry of a failed request. */
export async function refreshMetadataAfter(clock: Clock, cluster: Cluster, delay: DurationMs): Promise<void> {
  await sleep(clock, delay)
  await cluster.refreshMetadata().catch(() => undefined)
}
