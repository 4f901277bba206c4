import type { Audience } from '../../core/audience/directory.ts'
import { syncId as idOf, isAhead, type SyncId, type SyncMode } from '../../core/audience/sync.ts'
import { syncStatusOf } from '../../core/audience/sync-status.ts'
import { pause } from '../../core/pause.ts'
import type { Clock, LogPositions } from '../../core/ports.ts'
import { type DurationMs, durationMs } from '../../core/units.ts'
import { type MembershipSource, visitMemberships } from './read-memberships.ts'

/** How often it is asked how far things are. */
const askEvery = durationMs(1_000)
/** The memberships have to be read for that: at most a fifth of the time. */
const restAfterReading = 4

interface Deps extends MembershipSource {
  readonly clock: Clock
  readonly positions: LogPositions
  readonly inputTopic: string
  readonly audiencesGroup: string
  /** After so long a change that was not heard of counts as undelivered. */
  readonly expiry: DurationMs
}

interface Options {
  readonly audience: Pick<Audience, 'name' | 'destinations'>
  readonly syncId: SyncId
  readonly mode: SyncMode
  readonly signal: AbortSignal
  readonly onProgress?: (progress: WaitProgress) => void
}

/** Inputs that the audiences service has not taken yet; then memberships that the sync concerns, at each destination. */
export type WaitProgress =
  | { readonly kind: 'taking'; readonly left: number }
  | ({ readonly kind: 'delivering' } & DeliveryCounts)

export interface DeliveryCounts {
  readonly delivered: number
  readonly waiting: number
  /** Nothing is under way for them, and the destination does not have what it should. */
  readonly undelivered: number
}

export interface WaitReport extends DeliveryCounts {
  /** The newest sync of the audience, where it began by a clock that is ahead: this one changed nothing. */
  readonly ahead?: SyncId
  readonly end: 'done' | 'interrupted'
}

/**
 * Waits until everything that a sync changed has ended: first until the audiences service has taken all of its inputs, then until no
 * change of those it concerns is under way.
 */
export async function waitForSync(deps: Deps, { signal, onProgress, ...sync }: Options): Promise<WaitReport> {
  const { clock } = deps
  const ends = await deps.positions.ends(deps.inputTopic)
  for (let left = await inputsLeft(deps, ends); left > 0; left = await inputsLeft(deps, ends)) {
    onProgress?.({ kind: 'taking', left })
    await pause(clock, askEvery, signal)
    if (signal.aborted) return { delivered: 0, waiting: 0, undelivered: 0, end: 'interrupted' }
  }
  for (;;) {
    const startedAt = clock.monotonic()
    const counts = await countOf(deps, sync)
    onProgress?.({ kind: 'delivering', ...counts })
    if (counts.waiting === 0) return { ...counts, end: 'done' }
    const took = clock.monotonic() - startedAt
    await pause(clock, durationMs(Math.max(askEvery, took * restAfterReading)), signal)
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
): Promise<Omit<WaitReport, 'end'>> {
  const counts = { delivered: 0, waiting: 0, undelivered: 0 }
  let newest = idOf(0)
  const seen = (id: SyncId): void => {
    if (id > newest) newest = id
  }
  const on = { now: deps.clock.now(), expiry: deps.expiry }
  await visitMemberships(deps, {
    isWanted: name => name === audience.name,
    onMark(_audience, { begun, closed }) {
      seen(begun)
      seen(closed)
    },
    onMembership({ destination }, state) {
      seen(state.syncId)
      // A full sync also speaks of those whom it did not name; a newer one has its own say.
      const isConcerned = mode === 'full' ? state.syncId <= syncId : state.syncId === syncId
      if (!isConcerned || !audience.destinations.has(destination)) return
      const standing = syncStatusOf(state, on)
      if (standing === 'acknowledged') counts.delivered++
      else if (standing === 'in_flight') counts.waiting++
      else counts.undelivered++
    },
  })
  return isAhead(newest, on.now) ? { ...counts, ahead: newest } : counts
}
