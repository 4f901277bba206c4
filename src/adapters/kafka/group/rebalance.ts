import type { Clock, Logger, TopicPartition } from '../../../core/ports.ts'
import { durationMs } from '../../../core/units.ts'
import { codeOfThrown, rejoinNeeded } from '../kafkajs/errors.ts'
import type { ConsumerGroup, FetchedBatch } from '../kafkajs/private-api.ts'
import { offsetOf, refreshMetadataAfter } from '../log/fetch.ts'
import { byTopic, type OwnedPartition, type OwnedPartitions, seekAndPause } from './owned-partitions.ts'

/** Member id and generation at the end of a completed join. */
export interface MemberGeneration {
  readonly memberId: string | null
  readonly generation: number
}

export const memberGenerationOf = ({ memberId, generationId }: ConsumerGroup): MemberGeneration => ({
  memberId,
  generation: generationId,
})

/**
 * Whether no other member can have owned our partitions between two joins: same member id, and the
 * same generation or the next one. A follower that rejoins gets the same generation again. Any
 * other jump hides a generation in which another member may have owned them.
 */
export function isContinuous(last: MemberGeneration | undefined, now: MemberGeneration): boolean {
  if (last === undefined || now.memberId === null || last.memberId !== now.memberId) return false
  return now.generation === last.generation || now.generation === last.generation + 1
}

/** What a join changed. */
export interface AssignmentChange {
  readonly lost: readonly OwnedPartition[]
  readonly gained: readonly OwnedPartition[]
}

/**
 * Compares the owned partitions with the new assignment, and fetches the committed offsets of the
 * gained ones. Their first fetch tells whether a committed offset still exists in the log.
 * @throws what kafkajs throws when the coordinator does not answer, or the leader of a partition
 * without committed offset.
 */
export async function assignmentChange(
  group: ConsumerGroup,
  owned: readonly OwnedPartition[],
  last: MemberGeneration | undefined,
): Promise<AssignmentChange> {
  const assigned = group
    .assigned()
    .flatMap(({ topic, partitions }) => partitions.map(partition => ({ topic, partition })))
  if (!isContinuous(last, memberGenerationOf(group)))
    return { lost: owned, gained: await withPositions(group, assigned) }
  return {
    lost: owned.filter(each => !assigned.some(isSame(each))),
    gained: await withPositions(
      group,
      assigned.filter(each => !owned.some(isSame(each))),
    ),
  }
}

const maxOffsetFetches = 5
const offsetFetchRetryAfter = durationMs(200)

interface RetryDeps {
  readonly clock: Clock
  readonly logger: Logger
  readonly isEnded: () => boolean
}

/**
 * `assignmentChange` with retries, for nothing may be fetched without positions.
 * @throws an error that makes kafkajs join again, after the last retry or when the member has ended
 */
export async function retriedAssignmentChange(
  group: ConsumerGroup,
  owned: OwnedPartitions,
  last: MemberGeneration | undefined,
  { clock, logger, isEnded }: RetryDeps,
): Promise<AssignmentChange> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await assignmentChange(group, owned.all(), last)
    } catch (error) {
      logger.debug({ group: group.groupId, code: codeOfThrown(error) }, 'committed offsets cannot be read')
      if (attempt === maxOffsetFetches || isEnded()) throw rejoinNeeded()
      await refreshMetadataAfter(clock, group.cluster, offsetFetchRetryAfter)
    }
  }
}

/** Each begins at its committed offset; without one, at the beginning of the log. */
async function withPositions(group: ConsumerGroup, partitions: readonly TopicPartition[]): Promise<OwnedPartition[]> {
  if (partitions.length === 0) return []
  const { responses } = await group.coordinator.offsetFetch({
    groupId: group.groupId,
    topics: byTopic(partitions, ({ partition }) => ({ partition })),
  })
  return Promise.all(
    responses.flatMap(({ topic, partitions }) => partitions.map(each => withPosition(group, { topic, ...each }))),
  )
}

type FetchedOffset = TopicPartition & { readonly offset: string; readonly metadata: string | null }

async function withPosition(
  group: ConsumerGroup,
  { topic, partition, ...fetched }: FetchedOffset,
): Promise<OwnedPartition> {
  const offset = Number(fetched.offset)
  // -1: none. An unpatched kafkajs may have committed other negative values; these are no position.
  if (offset >= 0) {
    const committed = { offset, metadata: fetched.metadata ?? '' }
    return { topic, partition, next: offset, paused: false, isRevoking: false, committed }
  }
  const next = await offsetOf(group.cluster, { topic, partition }, 'beginning')
  return { topic, partition, next, paused: false, isRevoking: false, committed: undefined }
}

/** A part of the log that cannot be read: deleted before it was read, or truncated. */
export interface LostPosition extends TopicPartition {
  readonly from: number
  /**
   * Above `from`: the records in between are gone. Below: the log now ends here, and the records
   * that it had up to `from` and beyond are unknown.
   */
  readonly to: number
}

/** The closest offset inside the log, for a position that the log no longer has. */
export function nearest(position: number, beginning: number, end: number): number {
  return Math.min(Math.max(position, beginning), end)
}

const isSame = (a: TopicPartition) => (b: TopicPartition) => a.topic === b.topic && a.partition === b.partition

/** Most joins take less time. */
const fetchAfter = durationMs(100)

interface RebalanceFetcherDeps {
  readonly clock: Clock
  readonly owned: OwnedPartitions
  readonly fetch: (group: ConsumerGroup, nodeId: string) => Promise<readonly FetchedBatch[]>
  readonly deliver: (batch: FetchedBatch) => Promise<void>
  /** Sends a heartbeat when one is due. */
  readonly heartbeat: (group: ConsumerGroup) => Promise<void>
}

/**
 * Fetches and delivers the owned partitions during a rebalance. A join may wait for other members
 * up to their session timeout; no other member can get our partitions before our own join. kafkajs
 * itself fetches nothing until the join ends.
 */
export class RebalanceFetcher {
  readonly #deps: RebalanceFetcherDeps
  #run = 0
  #cancel = (): void => undefined

  constructor(deps: RebalanceFetcherDeps) {
    this.#deps = deps
  }

  start(group: ConsumerGroup): void {
    this.#cancel = this.#deps.clock.after(fetchAfter, () => {
      const run = ++this.#run
      // The join, or the first fetch after it, meets the same error.
      void this.#fetchUntil(group, () => this.#run !== run).catch(() => undefined)
    })
  }

  /** Drops the result of a fetch in progress: its records are fetched again. */
  stop(): void {
    this.#cancel()
    this.#run++
  }

  async #fetchUntil(group: ConsumerGroup, isStopped: () => boolean): Promise<void> {
    const { owned, fetch, deliver, heartbeat } = this.#deps
    while (!isStopped() && owned.all().length > 0) {
      seekAndPause(group, owned.all())
      const fetched = await Promise.all(group.getNodeIds().map(nodeId => fetch(group, nodeId)))
      for (const batch of fetched.flat()) if (!isStopped()) await deliver(batch)
      // The coordinator answers with REBALANCE_IN_PROGRESS, which is expected here.
      if (!isStopped()) await heartbeat(group).catch(() => undefined)
    }
  }
}
