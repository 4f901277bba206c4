import { flowLimits } from '../../core/flow/limits.ts'
import { type PrefetchLimits, prefetchLimits } from '../../core/flow/prefetch-limits.ts'
import type {
  Clock,
  LogConsumer,
  LogConsumerHandlers,
  Logger,
  LogRecord,
  Position,
  RecordBatch,
  TopicPartition,
} from '../../core/ports.ts'
import { sleep } from '../../core/sleep-and-yield.ts'
import { durationMs, type EpochMs } from '../../core/time.ts'
import { partitionKey } from '../../core/topic-partition-key.ts'
import { RecordCounter, type RecordCounts } from './admitted-and-done-record-counts.ts'
import { PartitionProcessor } from './partition-processor.ts'

interface Deps {
  readonly consumer: LogConsumer
  readonly clock: Clock
  readonly logger: Logger
  /** Maximum number of concurrent webhook requests of the process. */
  readonly maxInFlight: number
  /**
   * Returns the time from which a record may be admitted. `undefined`: all records are due
   * immediately.
   */
  readonly dueAt: ((record: LogRecord) => EpochMs) | undefined
  readonly admission: Admission
  /** `undefined` when the partitions have no ledger. */
  readonly ledger?: LedgerWriter
}

/** Writes ledger counts to the ledger topic when the commit metadata of a partition has no room. */
export interface LedgerWriter {
  /** The first complete hour of a ledger that begins at this position, in hours since 1970. */
  exactSince(position: Position): number
  /**
   * Called each time the position for an offset commit is read. Writes a ledger record if the
   * commit has no room, and discards counts that could not be written in time.
   */
  check(processor: PartitionProcessor): void
  /**
   * Resolves when the commit has room for all ledger counts: the rest is stored in the ledger
   * topic, or discarded after at most 5 s and before `deadline` (monotonic milliseconds).
   */
  untilRoom(processor: PartitionProcessor, deadline: number): Promise<void>
}

/** The callbacks with which a service handles its partitions and their records. */
export interface Admission {
  /**
   * Whether partitions may now prefetch up to their higher limits (`stalled` of `prefetchLimits`).
   */
  prefetchesDeeper(): boolean
  /** The service may pause the partition here, before its first record. */
  assigned(processor: PartitionProcessor, position: Position): void
  admit(record: LogRecord, processor: PartitionProcessor): void
  /**
   * Called when Kafka lost unread records of the partition: retention deleted them, or the log was
   * truncated. If the service pauses the partition for `loss`, no later offset is committed until
   * it resumes the partition.
   */
  lost?(processor: PartitionProcessor): void
  /**
   * Called after records were admitted, when all fetched records are admitted or the partition is
   * paused.
   */
  admitted(processor: PartitionProcessor): void
  revoked(processor: PartitionProcessor): void
  /**
   * Called when the partition is being revoked and has nothing in progress. It may start appends.
   */
  handOver(processor: PartitionProcessor): void
  /**
   * Called when partitions are revoked, and when the group confirms the assignment again. The
   * service starts the work that was not allowed to start, or leaves it to the new owner.
   */
  released(): void
}

/** The partitions assigned to one consumer, with a processor each. */
export interface Partitions {
  readonly handlers: LogConsumerHandlers
  processors(): Iterable<PartitionProcessor>
  takeCounts(): RecordCounts
}

const { dueSoonMs, maxTimerMs } = flowLimits.notDue
/**
 * A retry that starts more than this time, in ms, before its due time is logged. The due time is
 * too late if the clock of the broker was ahead.
 */
const clockAheadMs = 60_000

/**
 * Time at the end of a revocation for storing the ledger counts. A revocation takes at most 8 s,
 * and requests in progress end after at most 5 s.
 */
const ledgerTime = durationMs(2_000)

export function createPartitions(deps: Deps): Partitions {
  const { consumer, clock, maxInFlight, dueAt, admission } = deps
  const processors = new Map<string, PartitionProcessor>()
  let limits = prefetchLimits(0, maxInFlight)
  const limitsNow = (): PrefetchLimits => (admission.prefetchesDeeper() ? limits.stalled : limits.normal)
  const counter = new RecordCounter()

  function revoke(partition: TopicPartition): void {
    const processor = processors.get(partitionKey(partition))
    if (processor === undefined) return
    processor.revoked = true
    counter.left(processor)
    processors.delete(partitionKey(partition))
    limits = prefetchLimits(processors.size, maxInFlight)
    admission.revoked(processor)
  }

  async function revoking(partitions: readonly TopicPartition[], deadline: number): Promise<void> {
    counter.joined()
    pauseLeaving(processors, partitions)
    admission.released()
    await Promise.all([...processors.values()].filter(isBeingRevoked).map(each => handOver(deps, each, deadline)))
  }

  function assign(position: Position): void {
    revoke(position)
    const processor = createProcessor(deps, position, limitsNow, admit)
    processors.set(partitionKey(position), processor)
    limits = prefetchLimits(processors.size, maxInFlight)
    admission.assigned(processor, position)
    if (position.isTruncated === true) admission.lost?.(processor)
  }

  function onRecords(batch: RecordBatch): void {
    const processor = processors.get(partitionKey(batch))
    // Ignore batches that were fetched before `waitUntilDue` moved the position of the consumer
    // back. They are fetched again.
    if (processor === undefined || processor.isPausedFor('not_due')) return
    if (batch.isAfterLoss === true) admission.lost?.(processor)
    processor.fetched(batch, clock.monotonic())
    admit(processor)
  }

  /**
   * Admits fetched records until the partition is paused or none is left, and then fetches more.
   */
  function admit(processor: PartitionProcessor): void {
    // A record that is done immediately (dropped) calls `admit` again while the loop runs.
    if (processor.isAdmitting) return
    processor.isAdmitting = true
    while (!processor.isPaused) {
      const record = processor.unread.next()
      if (record === undefined) break
      if (record.offset < processor.tracker.received) continue
      const due = dueAt?.(record)
      // Read the time for each record, as `waitUntilDue` does. With an older time, the loop would
      // wait for the same due record again and again.
      if (due !== undefined && timeUntilDue(clock, processor, { record, due }) > 0)
        waitUntilDue(deps, processor, { record, due, maxDueSoon: limits.stalled.dueSoon })
      else if (processor.admit(record)) admission.admit(record, processor)
    }
    processor.isAdmitting = false
    if (processor.unread.isEmpty && !processor.isPausedFor('not_due'))
      processor.tracker.advance(processor.unread.nextOffset)
    if (!processor.isPaused) consumer.resume(processor)
    admission.admitted(processor)
  }

  return {
    handlers: {
      onAssigned: positions => positions.forEach(assign),
      onRevoked: partitions => {
        partitions.forEach(revoke)
        admission.released()
      },
      onRevoking: revoking,
      onLeaseRegained: () => admission.released(),
      onRecords,
      positions: () => [...processors.values()].filter(mayCommit).map(processor => positionOf(deps, processor)),
    },
    processors: () => processors.values(),
    takeCounts: () => counter.take(processors.values()),
  }
}

/** Marks and pauses the partitions that are being revoked, and resumes all others. */
function pauseLeaving(
  processors: ReadonlyMap<string, PartitionProcessor>,
  partitions: readonly TopicPartition[],
): void {
  const leaving = new Set(partitions.map(partitionKey))
  for (const [key, processor] of processors) processor.isLeaving = leaving.has(key)
  for (const processor of processors.values()) {
    if (processor.isLeaving) processor.pause('revocation')
    else processor.resume('revocation')
  }
}

function createProcessor(
  { consumer, ledger }: Deps,
  position: Position,
  limits: () => PrefetchLimits,
  onResumed: (processor: PartitionProcessor) => void,
): PartitionProcessor {
  return new PartitionProcessor(position, { consumer, limits, onResumed, exactSince: ledger?.exactSince(position) })
}

const mayCommit = (processor: PartitionProcessor): boolean => !processor.isPausedFor('loss')

const isBeingRevoked = ({ isLeaving, revoked }: PartitionProcessor): boolean => isLeaving && !revoked

/**
 * Waits until no work is in progress, and then until the commit has room for the ledger counts. If
 * work is still in progress `ledgerTime` before the deadline, the counts of finished records are
 * stored first.
 */
async function handOver(
  { admission, ledger, clock }: Deps,
  processor: PartitionProcessor,
  deadline: number,
): Promise<void> {
  const isDrained = drain(admission, processor)
  const stopWait = new AbortController()
  const ledgerDue = sleep(clock, durationMs(Math.max(0, deadline - ledgerTime - clock.monotonic())), stopWait.signal)
  await Promise.race([isDrained, ledgerDue])
  stopWait.abort()
  if (isBeingRevoked(processor)) await ledger?.untilRoom(processor, deadline)
  await isDrained
}

async function drain(admission: Admission, processor: PartitionProcessor): Promise<void> {
  await processor.idle()
  if (isBeingRevoked(processor)) admission.handOver(processor)
  await processor.idle()
}

interface NotDue {
  readonly record: LogRecord
  /** When the record is due by its timestamp. */
  readonly due: EpochMs
}

/**
 * Returns the milliseconds until a record is due; 0 or less when it is due.
 *
 * If the clock of a broker was ahead, its timestamps are too late. So a record never waits longer
 * than its planned wait (`due` minus its timestamp), on the monotonic clock, after this process
 * first knew the record.
 */
function timeUntilDue(clock: Clock, processor: PartitionProcessor, { record, due }: NotDue): number {
  const now = clock.monotonic()
  if (record.offset >= processor.knownInLog.below)
    processor.knownInLog = { below: Math.max(processor.highWatermark, record.offset + 1), at: now }
  return Math.min(due - clock.now(), processor.knownInLog.at + due - record.timestamp - now)
}

/** Pauses the partition until the record is due. Later records wait too. */
function waitUntilDue(
  { consumer, clock, logger }: Deps,
  processor: PartitionProcessor,
  { record, due, maxDueSoon }: NotDue & { readonly maxDueSoon: number },
): void {
  const timeLeft = (): number => timeUntilDue(clock, processor, { record, due })
  processor.unread.requeue(record)
  processor.pause('not_due')
  const firstDropped = processor.unread.truncate(timeLeft() <= dueSoonMs ? maxDueSoon : 0)
  if (firstDropped !== undefined) consumer.seek(processor, firstDropped)
  const check = (): void => {
    const wait = timeLeft()
    if (wait > 0 && !processor.revoked) return void clock.after(durationMs(Math.min(wait, maxTimerMs)), check)
    if (due - clock.now() > clockAheadMs && !processor.revoked) warnOfTimestamp(logger, processor, record)
    processor.resume('not_due')
  }
  check()
}

function warnOfTimestamp(logger: Logger, processor: PartitionProcessor, { offset }: LogRecord): void {
  if (processor.hasLateTimestamp) return
  processor.hasLateTimestamp = true
  const { topic, partition } = processor
  logger.warn(
    { topic, partition, offset },
    'the timestamp of this record is in the future, because the clock of the broker that stored the record was ahead; the record is a retry, which hookline starts now; check the clocks of the brokers',
  )
}

function positionOf({ ledger }: Deps, processor: PartitionProcessor): Position {
  const { topic, partition, tracker } = processor
  const { position } = tracker
  ledger?.check(processor)
  return { topic, partition, ...position }
}
