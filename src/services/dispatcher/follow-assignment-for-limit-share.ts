import { flowLimits } from '../../core/flow/flow-control-constants.ts'
import type { PartitionShare } from '../../core/flow/limit-share-by-partitions.ts'
import type { Cancel, Clock, LogConsumerHandlers, Logger, TopicPartition } from '../../core/ports.ts'
import { durationMs } from '../../core/time.ts'

const { handoverMs, countRetryMs } = flowLimits.share

interface Deps {
  readonly share: PartitionShare
  readonly handlers: LogConsumerHandlers
  readonly countPartitions: () => Promise<number>
  /** Called when the part of the destinations' limits that this process may use has changed. */
  readonly onChange: () => void
  readonly clock: Pick<Clock, 'monotonic' | 'after'>
  readonly logger: Logger
}

interface AssignmentFollower {
  /** The given handlers. They also note in `share` which partitions this process owns. */
  readonly handlers: LogConsumerHandlers
  start(): void
  stop(): void
}

/**
 * Keeps in `share` the partitions that this process owns, and the number of partitions of the
 * events topic. Reads the number at each rebalance, because a change of the number causes a
 * rebalance.
 */
export function followAssignment(deps: Deps): AssignmentFollower {
  const { share, handlers, onChange, clock } = deps
  const counts = createCountReader(deps)
  const numbers = (partitions: readonly TopicPartition[]): readonly number[] =>
    partitions.map(({ partition }) => partition)
  return {
    handlers: {
      ...handlers,
      onAssigned(positions) {
        for (const partition of numbers(positions)) share.assigned(partition, clock.monotonic())
        handlers.onAssigned(positions)
        clock.after(durationMs(handoverMs), onChange)
      },
      onRevoked(partitions) {
        for (const partition of numbers(partitions)) share.revoked(partition, clock.monotonic())
        handlers.onRevoked(partitions)
      },
      onRevoking(partitions, deadline) {
        share.joined(new Set(numbers(partitions)), clock.monotonic())
        counts.read()
        return handlers.onRevoking(partitions, deadline)
      },
    },
    start: counts.read,
    stop: counts.stop,
  }
}

function createCountReader({ share, countPartitions, onChange, clock, logger }: Deps) {
  let isStopped = false
  let cancel: Cancel = () => undefined

  async function read(): Promise<void> {
    cancel()
    try {
      share.setCount(await countPartitions(), clock.monotonic())
      onChange()
    } catch (error) {
      logger.warn(
        { error: (error as Error).message },
        'this process cannot read the number of partitions of the events topic (see "error"), and tries again every second; before the first successful read, it makes no attempts at destinations with policy.ratePerSecond or policy.maxConcurrency',
      )
      if (!isStopped) cancel = clock.after(durationMs(countRetryMs), () => void read())
    }
  }

  return {
    read: (): void => void read(),
    stop(): void {
      isStopped = true
      cancel()
    },
  }
}
