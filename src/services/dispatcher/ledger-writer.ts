import { flowLimits } from '../../core/flow/flow-control-constants.ts'
import { hourOf } from '../../core/ledger/ledger-counts.ts'
import { ledgerHeaders } from '../../core/ledger/ledger-record-and-chain-reading.ts'
import type { Metrics } from '../../core/metrics/metrics.ts'
import type { Clock, Logger, LogProducer, Position } from '../../core/ports.ts'
import { sleep } from '../../core/sleep-and-yield.ts'
import { type DurationMs, durationMs } from '../../core/time.ts'
import { partitionKey } from '../../core/topic-partition-key.ts'
import type { TopicNames } from '../../core/topics.ts'
import type { PartitionProcessor } from '../partitions/partition-processor.ts'
import type { LedgerWriter } from '../partitions/partitions.ts'

/**
 * Maximum time for which offset commits wait for a ledger record. Longer waits would repeat more
 * deliveries after a crash.
 */
const maxHold = durationMs(15_000)
/**
 * Replaces `maxHold` during a revocation or stop, when a late commit would certainly repeat
 * deliveries.
 */
const maxHoldOfHandover = durationMs(5_000)
/**
 * Counts that are not stored are discarded this long before a revocation's deadline, because timers
 * may fire late.
 */
const beforeDeadline = durationMs(200)
/**
 * Time between two checks while a commit waits: half of `beforeDeadline`, so that the last check is
 * before the deadline.
 */
const checkEvery = durationMs(100)
const { firstRetryMs, maxRetryMs } = flowLimits.append
/** `exactSince` (in hours since 1970) of a partition whose counts are complete for all hours. */
const everyHour = 0

interface Deps {
  readonly producer: LogProducer
  readonly topics: Pick<TopicNames, 'ledger'>
  /** Follows the brokers' time, because its hours are compared with append times. */
  readonly clock: Clock
  readonly metrics: Metrics
  readonly logger: Logger
}

/** What the writer notes for one partition. All times are in monotonic milliseconds. */
interface State {
  /**
   * Since when the commits have had no room for further counts. A stored ledger record resets it.
   */
  noRoomSince: number | undefined
  /**
   * The last hour (in hours since 1970) whose counts are incomplete, because some were discarded.
   */
  discardedIn: number | undefined
  /** When the next append may start after a failed one. */
  retryAt: number
  /** The pause after the next failed append, in milliseconds. */
  pauseMs: number
}

/**
 * Writes ledger records. The records for partition `n` of any topic are in partition `n` of the
 * ledger topic, so that a commit names a record by its offset alone.
 */
export function createLedgerWriter(deps: Deps): LedgerWriter {
  const { clock } = deps
  const states = new WeakMap<PartitionProcessor, State>()
  const nextHour = (): number => hourOf(clock.now()) + 1

  function stateOf(processor: PartitionProcessor): State {
    const known = states.get(processor)
    if (known !== undefined) return known
    const state: State = { noRoomSince: undefined, discardedIn: undefined, retryAt: 0, pauseMs: firstRetryMs }
    states.set(processor, state)
    return state
  }

  return {
    exactSince: ({ offset, metadata, isTruncated }: Position) => {
      const isUnread = offset === 0 && metadata === '' && isTruncated !== true
      return isUnread ? everyHour : nextHour()
    },
    check(processor) {
      if (processor.revoked) return
      const state = stateOf(processor)
      discardLate(deps, processor, state, maxHold)
      if (processor.tracker.isLedgerDue) write(deps, processor, state, () => undefined)
    },
    async writeUntilCountsFit(processor, deadline) {
      const state = stateOf(processor)
      while (!processor.revoked && !processor.tracker.hasRoomForLedger) {
        const { promise, resolve } = Promise.withResolvers<void>()
        write(deps, processor, state, resolve)
        // Do not wait only for the append: the producer may report a failure after the time limit.
        await Promise.race([promise, sleep(clock, checkEvery)])
        discardLate(deps, processor, state, maxHoldOfHandover, deadline - beforeDeadline)
      }
    },
  }
}

/** Appends a ledger record, except during an earlier append and in the pause after a failed one. */
function write(
  { producer, topics, clock, metrics }: Deps,
  processor: PartitionProcessor,
  state: State,
  onStored: () => void,
): void {
  const { partition, tracker } = processor
  const record = clock.monotonic() < state.retryAt ? undefined : tracker.startLedgerRecord()
  if (record === undefined) return
  const outgoing = {
    key: Buffer.from(partitionKey(processor)),
    value: record.value,
    headers: ledgerHeaders(record),
    partition,
    maySend: () => !processor.revoked && tracker.isStoring(record),
  }
  producer.append(topics.ledger, outgoing, (error, offset) => {
    // The counts were discarded during the append, so no commit will name the record.
    if (!tracker.isStoring(record)) return
    if (error === undefined && offset !== undefined) {
      tracker.ledgerStored(record, offset)
      state.noRoomSince = undefined
      state.pauseMs = firstRetryMs
      return onStored()
    }
    tracker.ledgerFailed(record)
    if (processor.revoked) return
    metrics.produceFailures.inc({ topic: topics.ledger })
    state.retryAt = clock.monotonic() + state.pauseMs
    state.pauseMs = Math.min(state.pauseMs * 2, maxRetryMs)
  })
}

/**
 * Discards the ledger counts of a partition if they have not fitted into the metadata of its offset
 * commits for `limit` ms. After `deadline` (in monotonic ms), discards them without this wait.
 */
function discardLate(
  { clock, topics, metrics, logger }: Deps,
  { topic, partition, tracker }: PartitionProcessor,
  state: State,
  limit: DurationMs,
  deadline = Number.POSITIVE_INFINITY,
): void {
  if (tracker.hasRoomForLedger) {
    state.noRoomSince = undefined
    return
  }
  const now = clock.monotonic()
  if (state.noRoomSince === undefined) {
    state.noRoomSince = now
    return
  }
  const hour = hourOf(clock.now())
  // If counts of this hour were already discarded, the hour is incomplete, and waiting has no use.
  const isFirst = state.discardedIn !== hour
  if (isFirst && now - state.noRoomSince < limit && now < deadline) return
  state.noRoomSince = undefined
  state.discardedIn = hour
  tracker.discardLedger(hour + 1)
  if (!isFirst) return
  metrics.ledgerGaps.inc({})
  logger.error(
    { topic, partition },
    `hookline could not write the delivery counts of this partition to the ledger topic ${topics.ledger} in time, and discarded them; deliveries are not affected, but \`hookline ledger\` reports this hour and all earlier hours as incomplete; check that this process can write to the ledger topic`,
  )
}
