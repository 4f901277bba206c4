import { flowLimits } from '../../core/flow/limits.ts'
import { hourOf } from '../../core/ledger/ledger-counts.ts'
import { ledgerHeaders } from '../../core/ledger/ledger-record.ts'
import type { Metrics } from '../../core/metrics/metrics.ts'
import { partitionKey } from '../../core/partition-key.ts'
import type { Clock, Logger, LogProducer, Position } from '../../core/ports.ts'
import { sleep } from '../../core/sleep.ts'
import { type DurationMs, durationMs } from '../../core/time.ts'
import type { TopicNames } from '../../core/topics.ts'
import type { PartitionProcessor } from '../partitions/partition-processor.ts'
import type { LedgerWriter } from '../partitions/partitions.ts'

/**
 * How long commits wait for a ledger record that they need room for. Then the results are discarded:
 * a late commit would repeat deliveries after a crash.
 */
const maxHold = durationMs(15_000)
/**
 * The same while a partition is being revoked or the process stops. The next owner begins at the
 * commit, so a late one would certainly repeat deliveries.
 */
const maxHoldOfHandover = durationMs(5_000)
/** How long before the deadline of a revocation the results are discarded. A timer may be late. */
const beforeDeadline = durationMs(200)
/** Half of `beforeDeadline`, so that a wait for room ends before the deadline. */
const checkEvery = durationMs(100)
const { firstRetryMs, maxRetryMs } = flowLimits.append
/** The first complete hour of a ledger that has all events of its partition. */
const everyHour = 0

interface Deps {
  readonly producer: LogProducer
  readonly topics: Pick<TopicNames, 'ledger'>
  /** Its time is the brokers' time, like that of the events, whose hours it is compared with. */
  readonly clock: Clock
  readonly metrics: Metrics
  readonly logger: Logger
}

/** The appends of one partition. Times are in monotonic milliseconds. */
interface State {
  /** Since when its commits have no room; `undefined` while they have room. A stored record resets it. */
  noRoomSince: number | undefined
  /** The last hour in which its results were discarded. */
  discardedIn: number | undefined
  /** When the next append may start. */
  retryAt: number
  /** The pause after the next failure, in milliseconds. */
  pauseMs: number
}

/**
 * Writes the ledger records. A record is in the partition with the number of its source partition,
 * so that a commit can name it by its offset alone.
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
    async untilRoom(processor, deadline) {
      const state = stateOf(processor)
      while (!processor.revoked && !processor.tracker.hasRoom) {
        const { promise, resolve } = Promise.withResolvers<void>()
        write(deps, processor, state, resolve)
        // The producer may take longer than the limit to report an error.
        await Promise.race([promise, sleep(clock, checkEvery)])
        discardLate(deps, processor, state, maxHoldOfHandover, deadline - beforeDeadline)
      }
    },
  }
}

/** Starts to append the results of a partition, unless a record is being stored or a pause is not over. */
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
    // The results of the record were discarded. No commit will name it.
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

/** Discards the results of a partition when its commits have had no room for `limit`, or at `deadline`. */
function discardLate(
  { clock, topics, metrics, logger }: Deps,
  { topic, partition, tracker }: PartitionProcessor,
  state: State,
  limit: DurationMs,
  deadline = Number.POSITIVE_INFINITY,
): void {
  if (tracker.hasRoom) {
    state.noRoomSince = undefined
    return
  }
  const now = clock.monotonic()
  if (state.noRoomSince === undefined) {
    state.noRoomSince = now
    return
  }
  const hour = hourOf(clock.now())
  // If the ledger already misses results of this hour, no commit waits for the others.
  const isFirst = state.discardedIn !== hour
  if (isFirst && now - state.noRoomSince < limit && now < deadline) return
  state.noRoomSince = undefined
  state.discardedIn = hour
  tracker.discardLedger(hour + 1)
  if (!isFirst) return
  metrics.ledgerGaps.inc({})
  logger.error(
    { topic: topics.ledger, source: topic, partition },
    'hookline could not write counts of delivery results to the ledger topic in time, and discards them; deliveries are not affected, but `hookline ledger` reports this hour and all earlier hours as incomplete; later hours are complete again unless this line repeats; check that this process can write to the topic',
  )
}
