import type { Clock, Logger, Position } from '../../core/ports.ts'
import { type DurationMs, durationMs } from '../../core/units.ts'
import { codeOfThrown } from './errors.ts'
import type { ConsumerGroup } from './internals.ts'
import { byTopic, type Committed, type OwnedPartition, type Partitions } from './partitions.ts'

/** A quarter of a second of work is done again after a crash, at most. */
const commitEvery = durationMs(250)

export type CommitResult = 'accepted' | 'refused'

interface Deps {
  readonly owned: Partitions
  readonly positions: () => readonly Position[]
  /** The group as long as it may commit: never between JoinGroup and the end of the join, the broker would accept anything. */
  readonly group: () => ConsumerGroup | undefined
  /** Told of each request that was answered. */
  readonly onCommit?: ((result: CommitResult) => void) | undefined
  readonly clock: Clock
  readonly logger: Logger
}

/** Tells the group's coordinator how far we are: one request at a time, only what is ours, only forward, only what changed. */
export interface Commits {
  start(): void
  /** No more by the clock. */
  stop(): void
  /**
   * Commits what may be committed, after what is under way. Resolves with whether all of it is committed; with false too when it took
   * longer than `limit`, or when a join has begun meanwhile.
   */
  flush(group: ConsumerGroup, limit: DurationMs): Promise<boolean>
}

export function createCommits({ owned, positions, group, onCommit, clock, logger }: Deps): Commits {
  let underWay: Promise<boolean> = Promise.resolve(true)
  let isBusy = false
  let cancelNext = (): void => undefined

  async function send(to: ConsumerGroup): Promise<boolean> {
    if (group() !== to) return false
    const due = dueCommits(positions(), owned)
    if (due.length === 0) return true
    const topics = byTopic(due, ({ partition, offset, metadata }) => ({ partition, offset: String(offset), metadata }))
    try {
      await to.commitOffsets({ topics })
    } catch (error) {
      onCommit?.('refused')
      logger.debug({ group: to.groupId, code: codeOfThrown(error) }, 'commit not accepted, trying again')
      return false
    }
    onCommit?.('accepted')
    for (const { of, offset, metadata } of due) of.committed = { offset, metadata }
    return true
  }

  function enqueue(to: ConsumerGroup): Promise<boolean> {
    isBusy = true
    const mine = underWay.then(() => send(to))
    underWay = mine
    void mine.then(() => {
      if (underWay === mine) isBusy = false
    })
    return mine
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

/** Of what may be committed, what is ours, changed, and does not go back. @throws RangeError for what is no offset: Kafka would take it. */
export function dueCommits(positions: readonly Position[], owned: Pick<Partitions, 'get'>): readonly DueCommit[] {
  return positions.flatMap(position => {
    if (!(Number.isSafeInteger(position.offset) && position.offset >= 0))
      throw new RangeError(`${position.offset} is no offset of ${position.topic}/${position.partition}`)
    const of = owned.get(position)
    return of !== undefined && isForward(position, of.committed) ? [{ ...position, of }] : []
  })
}

function isForward({ offset, metadata }: Committed, committed: Committed | undefined): boolean {
  if (committed === undefined || offset > committed.offset) return true
  return offset === committed.offset && metadata !== committed.metadata
}
