import type { Clock, Logger, Position } from '../../../core/ports.ts'
import { type DurationMs, durationMs } from '../../../core/time.ts'
import { errorCodeOf } from '../kafkajs/errors.ts'
import type { ConsumerGroup } from '../kafkajs/private-api.ts'
import {
  type Committed,
  groupByTopic,
  isBeforeBeginning,
  type OwnedPartition,
  type OwnedPartitions,
} from './owned-partitions.ts'

/**
 * The interval of commits. After a crash, the records of about one interval are processed again.
 */
const commitEvery = durationMs(250)

export type CommitResult = 'accepted' | 'refused'

const metadataTooLarge = 'OFFSET_METADATA_TOO_LARGE'
const metadataRefused =
  'the broker refused an offset commit, because its metadata is too long: set offset.metadata.max.bytes of the brokers to at least 4096, then restart this process (see the runbook HooklineCommitsRefused); until the restart, this process commits without metadata longer than "bytes", and hookline may repeat finished deliveries after a rebalance or a stop'

interface Deps {
  readonly owned: OwnedPartitions
  readonly positions: () => readonly Position[]
  /** The group; `undefined` from the response to JoinGroup until the assignment is applied. */
  readonly group: () => ConsumerGroup | undefined
  /** Called after each OffsetCommit request, with its result. */
  readonly onCommit?: ((result: CommitResult) => void) | undefined
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * Commits offsets with one request at a time. A request contains only owned partitions whose
 * position has changed. An offset moves backwards only after the log was truncated.
 */
export interface Commits {
  start(): void
  stop(): void
  /**
   * Waits for the commit in progress, and then commits all changed positions. Resolves with false
   * on failure, when `limit` passes, or when the member may not commit to `group`.
   */
  flush(group: ConsumerGroup, limit: DurationMs): Promise<boolean>
}

export function createCommits({ owned, positions, group, onCommit, clock, logger }: Deps): Commits {
  let inProgress: Promise<boolean> = Promise.resolve(true)
  let isBusy = false
  /**
   * Maximum characters of metadata; longer metadata is not sent. The number becomes smaller after a
   * broker has refused metadata, because the broker's maximum is unknown.
   */
  let maxMetadataLength = Number.POSITIVE_INFINITY
  let isLimitLogged = true
  let cancelNext = (): void => undefined

  const withoutLongMetadata = (position: Position): Position =>
    position.metadata.length > maxMetadataLength ? { ...position, metadata: '' } : position

  async function send(to: ConsumerGroup): Promise<boolean> {
    if (group() !== to) return false
    const due = dueCommits(positions().map(withoutLongMetadata), owned)
    if (due.length === 0) return true
    const topics = groupByTopic(due, ({ partition, offset, metadata }) => ({
      partition,
      offset: String(offset),
      metadata,
    }))
    try {
      await to.commitOffsets({ topics })
    } catch (error) {
      onCommit?.('refused')
      const longest = Math.max(...due.map(({ metadata }) => metadata.length))
      if (errorCodeOf(error) === metadataTooLarge && longest > 0) {
        maxMetadataLength = Math.floor(longest / 2)
        isLimitLogged = false
        return send(to)
      }
      logger.debug(
        { group: to.groupId, code: errorCodeOf(error) },
        'hookline could not commit offsets (see "code"), and tries again; if hookline stops before a commit succeeds, it processes some records again',
      )
      return false
    }
    onCommit?.('accepted')
    if (!isLimitLogged)
      logger.error({ group: to.groupId, code: metadataTooLarge, bytes: maxMetadataLength }, metadataRefused)
    isLimitLogged = true
    for (const { of, offset, metadata } of due) of.committed = { offset, metadata }
    return true
  }

  function enqueue(to: ConsumerGroup): Promise<boolean> {
    isBusy = true
    const request = inProgress.then(() => send(to))
    inProgress = request
    void request.then(() => {
      if (inProgress === request) isBusy = false
    })
    return request
  }

  function tick(): void {
    const to = group()
    if (to !== undefined && !isBusy) void enqueue(to)
    cancelNext = clock.after(commitEvery, tick)
  }

  return {
    start() {
      cancelNext = clock.after(commitEvery, tick)
    },
    stop: () => cancelNext(),
    flush(to, limit) {
      const { promise, resolve } = Promise.withResolvers<boolean>()
      const cancel = clock.after(limit, () => resolve(false))
      void enqueue(to).then(resolve)
      return promise.finally(cancel)
    },
  }
}

type DueCommit = Position & { readonly of: OwnedPartition }

/**
 * Selects the owned partitions whose position or metadata has changed since the last commit.
 * @throws RangeError for an invalid offset, because Kafka would accept a negative offset
 */
export function dueCommits(positions: readonly Position[], owned: Pick<OwnedPartitions, 'get'>): readonly DueCommit[] {
  return positions.flatMap(position => {
    if (!(Number.isSafeInteger(position.offset) && position.offset >= 0))
      throw new RangeError(`offset ${position.offset} of ${position.topic}/${position.partition} is invalid`)
    const of = owned.get(position)
    if (of === undefined || isBeforeBeginning(of, of.next)) return []
    return isForward(position, of.committed) ? [{ ...position, of }] : []
  })
}

function isForward({ offset, metadata }: Committed, committed: Committed | undefined): boolean {
  if (committed === undefined || offset > committed.offset) return true
  return offset === committed.offset && metadata !== committed.metadata
}
