import { flowLimits } from '../../core/flow/flow-control-constants.ts'
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

/**
 * Writes a partition's ledger counts to the ledger topic if they do not fit into its commit
 * metadata.
 */
export interface LedgerWriter {
  /** The first complete hour (in hours since 1970) of a ledger that begins at this position. */
  exactSince(position: Position): number
  /**
   * Called after the position for a commit is read. Writes a ledger record if the counts do not fit
   * into the commit metadata, and discards counts that have waited too long.
   */
  check(processor: PartitionProcessor): void
  /**
   * Writes ledger records until the remaining counts fit into the commit metadata. If this takes
   * 5 s, or shortly before `deadline` (monotonic ms), discards the counts that do not fit.
   */
  writeUntilCountsFit(processor: PartitionProcessor, deadline: number): Promise<void>
}

/** The callbacks with which a service handles its partitions and their records. */
export interface Admission {
  /**
   * Whether partitions may now prefetch up to their higher limits (`stalled` of `prefetchLimits`).
   */
  usesStalledLimits(): boolean
  /**
   * Called when the partition is assigned. The service may pause the partition before its first
   * record.
   */
  assigned(processor: PartitionProcessor, position: Position): void
  admit(record: LogRecord, processor: PartitionProcessor): void
  /**
   * Called when Kafka lost unread records. While the service pauses the partition for `loss`, no
   * offset is committed.
   */
  lost?(processor: PartitionProcessor): void
  /**
   * Called each time the admission of fetched records stops, because all are admitted or the
   * partition is paused.
   */
  admitted(processor: PartitionProcessor): void
  revoked(processor: PartitionProcessor): void
  /**
   * Called when the partition is being revoked and has nothing in progress. The service may still
   * append records.
   */
  handOver(processor: PartitionProcessor): void
  /**
   * Called when waiting work may continue or must stop: the group confirmed the assignment again,
   * or partitions are revoked.
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
 * If a retry starts more than this time (in ms) before its due time, a broker's clock was ahead,
 * and Hookline logs a warning.
 */
const clockAheadMs = 60_000

/**
 * Time at the end of a revocation that is reserved for the write of ledger counts. A revocation
 * takes at most 8 s, of which requests in progress may need 5 s.
 */
const ledgerTime = durationMs(2_000)

export function createPartitions(deps: Deps): Partitions {
  const { consumer, clock, maxInFlight, dueAt, admission } = deps
  const processors = new Map<string, PartitionProcessor>()
  let limits = prefetchLimits(0, maxInFlight)
  const limitsNow = (): PrefetchLimits => (admission.usesStalledLimits() ? limits.stalled : limits.normal)
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
    const leaving = [...processors.values()].filter(isBeingRevoked)
    await Promise.all(leaving.map(each => drainAndWriteLedger(deps, each, deadline)))
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
    // If a record is done immediately (dropped), `admit` is called again while this loop runs.
    if (processor.isAdmitting) return
    processor.isAdmitting = true
    while (!processor.isPaused) {
      const record = processor.unread.next()
      if (record === undefined) break
      if (record.offset < processor.tracker.received) continue
      const due = dueAt?.(record)
      // Read the clock for each record. With an old time, this loop would wait again and again for
      // a record that is already due.
      if (due !== undefined && timeUntilDue(clock, processor, { record, due }) > 0)
        waitUntilDue(deps, processor, { record, due, maxDueSoonRecords: limits.stalled.dueSoonRecords })
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
      onLeaseAcquired: () => admission.released(),
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
 * Waits until no work is in progress. Then, or at the latest `ledgerTime` before the deadline,
 * writes the ledger counts that do not fit into the commit metadata.
 */
async function drainAndWriteLedger(
  { admission, ledger, clock }: Deps,
  processor: PartitionProcessor,
  deadline: number,
): Promise<void> {
  const isDrained = drain(admission, processor)
  const stopWait = new AbortController()
  const ledgerDue = sleep(clock, durationMs(Math.max(0, deadline - ledgerTime - clock.monotonic())), stopWait.signal)
  await Promise.race([isDrained, ledgerDue])
  stopWait.abort()
  if (isBeingRevoked(processor)) await ledger?.writeUntilCountsFit(processor, deadline)
  await isDrained
}

async function drain(admission: Admission, processor: PartitionProcessor): Promise<void> {
  await processor.idle()
  if (isBeingRevoked(processor)) admission.handOver(processor)
  await processor.idle()
}

interface NotDue {
  readonly record: LogRecord
  /** When the record is due, according to its timestamp. */
  readonly due: EpochMs
}

/**
 * Milliseconds until a record is due. If a broker's clock was ahead, the planned wait begins when
 * this process first saw the record.
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
  { record, due, maxDueSoonRecords }: NotDue & { readonly maxDueSoonRecords: number },
): void {
  const timeLeft = (): number => timeUntilDue(clock, processor, { record, due })
  processor.unread.requeue(record)
  processor.pause('not_due')
  const firstDropped = processor.unread.truncate(timeLeft() <= dueSoonMs ? maxDueSoonRecords : 0)
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
  if (processor.hasFutureTimestamp) return
  processor.hasFutureTimestamp = true
  const { topic, partition } = processor
  logger.warn(
    { topic, partition, offset },
    'the timestamp of this record of a retry topic is in the future, because the clock of the broker that stored the record was ahead; hookline continues the delivery now, without waiting for this time; check the clocks of the brokers',
  )
}

function positionOf({ ledger }: Deps, processor: PartitionProcessor): Position {
  const { topic, partition, tracker } = processor
  const { position } = tracker
  ledger?.check(processor)
  return { topic, partition, ...position }
}
