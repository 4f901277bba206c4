import { type SyncMode, syncIdsIn } from '../../core/audience/audience-watermark.ts'
import type { Audience } from '../../core/audience/configured-audiences.ts'
import { syncStatusOf } from '../../core/audience/membership-status-at-destination.ts'
import { syncId as idOf, isAhead, type SyncId } from '../../core/audience/sync-id.ts'
import type { Clock, LogPositions } from '../../core/ports.ts'
import { withRetries } from '../../core/retry-temporary-failures.ts'
import { sleep } from '../../core/sleep-and-yield.ts'
import { durationMs } from '../../core/time.ts'
import { isTemporaryKafkaError } from './is-kafka-error.ts'
import { type MembershipSource, visitMemberships } from './visit-all-memberships.ts'

const checkEvery = durationMs(1_000)
/** Pause after a read, as a multiple of its duration: reads take at most a fifth of the time. */
const pausePerReadTime = 4

interface Deps extends MembershipSource {
  readonly clock: Clock
  readonly positions: LogPositions
  readonly inputTopic: string
  readonly audiencesGroup: string
}

interface Options {
  readonly audience: Pick<Audience, 'name' | 'destinations'>
  readonly syncId: SyncId
  readonly mode: SyncMode
  readonly signal: AbortSignal
  readonly onProgress?: (progress: WaitProgress) => void
}

/**
 * `handling_inputs`: the audiences service still has to handle `left` inputs. `delivering`: the
 * counts are numbers of memberships. A membership belongs to one user and one destination.
 */
export type WaitProgress =
  | { readonly kind: 'handling_inputs'; readonly left: number }
  | ({ readonly kind: 'delivering' } & DeliveryCounts)

export interface DeliveryCounts {
  readonly delivered: number
  readonly waiting: number
  /**
   * Memberships without the intended value at the destination, although no change is in progress.
   */
  readonly undelivered: number
}

export interface WaitReport extends DeliveryCounts {
  /**
   * The id of another sync with a time in the future, if any. Compared with it, the current sync
   * counts as older, and has no effect.
   */
  readonly ahead?: SyncId
  /**
   * The number of partitions that did not apply the end of a full sync. The sync removed no users
   * in these partitions. Absent if all partitions applied the end.
   */
  readonly unapplied?: number
  readonly end: 'done' | 'interrupted'
}

/**
 * Waits until all inputs of a sync are handled and each of its changes is delivered or has failed.
 * @throws a Kafka error that is not temporary or lasts a minute
 */
export async function waitForSync(deps: Deps, { signal, onProgress, ...sync }: Options): Promise<WaitReport> {
  const { clock } = deps
  const repeated = <T>(read: () => Promise<T>) => withRetries(read, isTemporaryKafkaError, { clock, signal })
  const ends = await repeated(() => deps.positions.ends(deps.inputTopic))
  const readLeft = () => repeated(() => inputsLeft(deps, ends))
  for (let left = await readLeft(); left > 0; left = await readLeft()) {
    onProgress?.({ kind: 'handling_inputs', left })
    await sleep(clock, checkEvery, signal)
    if (signal.aborted) return { delivered: 0, waiting: 0, undelivered: 0, end: 'interrupted' }
  }
  for (;;) {
    const startedAt = clock.monotonic()
    const counts = await repeated(() => countOf(deps, sync, ends.length))
    onProgress?.({ kind: 'delivering', ...counts })
    if (counts.waiting === 0) return { ...counts, end: 'done' }
    const took = clock.monotonic() - startedAt
    await sleep(clock, durationMs(Math.max(checkEvery, took * pausePerReadTime)), signal)
    if (signal.aborted) return { ...counts, end: 'interrupted' }
  }
}

async function inputsLeft({ positions, inputTopic, audiencesGroup }: Deps, ends: readonly number[]): Promise<number> {
  const committed = await positions.committed(audiencesGroup, inputTopic)
  return ends.reduce((sum, end, partition) => sum + Math.max(0, end - Math.max(0, committed[partition] ?? 0)), 0)
}

async function countOf(
  deps: Deps,
  { audience, syncId, mode }: Pick<Options, 'audience' | 'syncId' | 'mode'>,
  partitions: number,
): Promise<Omit<WaitReport, 'end'>> {
  const counts = { delivered: 0, waiting: 0, undelivered: 0 }
  let newest = idOf(0)
  let unapplied = mode === 'full' ? partitions : 0
  const seen = (id: SyncId): void => {
    if (id > newest) newest = id
  }
  const now = deps.clock.now()
  await visitMemberships(deps, {
    isWanted: name => name === audience.name,
    onWatermark(_audience, watermark) {
      for (const id of syncIdsIn(watermark)) seen(id)
      if (mode === 'full' && watermark.closedUpTo >= syncId) unapplied--
    },
    onMembership({ destination }, state) {
      seen(state.syncId)
      // A full sync also removes the users who are not in its list. It therefore concerns every
      // membership that no newer sync has changed.
      const isConcerned = mode === 'full' ? state.syncId <= syncId : state.syncId === syncId
      if (!isConcerned || !audience.destinations.has(destination)) return
      const status = syncStatusOf(state, now)
      if (status === 'acknowledged') counts.delivered++
      else if (status === 'in_flight') counts.waiting++
      else counts.undelivered++
    },
  })
  if (isAhead(newest, now)) return { ...counts, ahead: newest }
  return unapplied > 0 ? { ...counts, unapplied } : counts
}
