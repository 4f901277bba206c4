import type { AudiencePartition } from '../../core/audience/audience-partition.ts'
import { staleReasons } from '../../core/audience/audience-watermark.ts'
import type { AudienceDirectory } from '../../core/audience/configured-audiences.ts'
import { type AudienceInput, inputUser, type LostInput } from '../../core/audience/input.ts'
import type { IgnoredReason } from '../../core/audience/input-effect-types.ts'
import { InputScheduler, type QueuedInput } from '../../core/audience/input-scheduler.ts'
import { parseMembershipKey, type ReadRecord } from '../../core/audience/membership-and-watermark-records.ts'
import { syncBegan } from '../../core/audience/sync-id.ts'
import { flowLimits } from '../../core/flow/flow-control-constants.ts'
import { toIsoTimestamp } from '../../core/message/timestamp.ts'
import type { Metrics } from '../../core/metrics/metrics.ts'
import type { Clock, Logger, LogRecord, ValueCodec } from '../../core/ports.ts'
import type { TopicNames } from '../../core/topics.ts'
import type { Tracer } from '../../core/trace/tracer.ts'
import { includesAllBefore, type SuppressionList } from '../deletion/suppression-list.ts'
import type { OwnershipGate } from '../partitions/ownership-gate.ts'
import type { PartitionProcessor } from '../partitions/partition-processor.ts'
import { createSchemaWait, type WaitForSchema } from '../partitions/schema-wait.ts'
import type { AudienceWrites } from './append-audience-records-until-stored.ts'
import { type InputTrace, traceInput } from './input-trace.ts'
import { createAudienceWait, type WaitForAudience } from './input-wait-for-unknown-audience.ts'
import { LogTail } from './read-unread-membership-records.ts'
import type { RestoredPartition } from './restore-memberships.ts'
import type { WriteChanges } from './write-changes.ts'

const { deletionCheckEvery: checkEvery } = flowLimits.admission

interface Deps {
  readonly codec: ValueCodec<AudienceInput>
  readonly writeChanges: WriteChanges
  readonly writes: AudienceWrites
  readonly gate: OwnershipGate
  readonly suppressions: Pick<SuppressionList, 'age'>
  readonly directory: () => AudienceDirectory
  readonly topics: Pick<TopicNames, 'events'>
  readonly clock: Clock
  readonly metrics: Metrics
  readonly logger: Logger
  readonly tracer?: Tracer | undefined
}

/** A partition whose memberships this process has loaded from Kafka. */
export interface OwnedAudiencePartition {
  readonly processor: PartitionProcessor
  readonly state: AudiencePartition
  readonly order: InputScheduler<OpenInput | FoundRecord>
  readonly tail: LogTail
  /** The inputs in progress, oldest first. */
  readonly open: Set<LogRecord>
}

export const ownedAudiencePartitionWith = (
  processor: PartitionProcessor,
  { state, next }: RestoredPartition,
): OwnedAudiencePartition => ({
  processor,
  state,
  order: new InputScheduler(),
  tail: new LogTail(next),
  open: new Set(),
})

/**
 * A membership record from Kafka. It is replaced if it is *stale*: an earlier owner of the
 * partition appended it after a newer record of the same key.
 */
class FoundRecord implements QueuedInput {
  readonly record: ReadRecord
  readonly isStale: boolean
  readonly user: string | undefined

  constructor(record: ReadRecord, isStale: boolean) {
    this.record = record
    this.isStale = isStale
    const about = parseMembershipKey(record.key)
    this.user = about !== undefined && 'userId' in about ? about.userId : undefined
  }

  mustRunAlone(): boolean {
    return this.user === undefined
  }
}

/** An input from its admission until it is done. */
class OpenInput implements QueuedInput {
  readonly record: LogRecord
  readonly input: AudienceInput | LostInput
  readonly user: string | undefined
  /**
   * The time of the partition's latest fetch when this input was admitted, in monotonic
   * milliseconds.
   */
  readonly fetchedAt: number
  readonly #state: AudiencePartition

  constructor(record: LogRecord, input: AudienceInput | LostInput, { state, processor }: OwnedAudiencePartition) {
    this.record = record
    this.input = input
    this.user = inputUser(input)
    this.fetchedAt = processor.fetchedAt
    this.#state = state
  }

  mustRunAlone(): boolean {
    return this.#state.mustRunAlone(this.input, this.record.timestamp)
  }
}

interface Undecoded {
  readonly record: LogRecord
  readonly processor: PartitionProcessor
  readonly held: OwnedAudiencePartition
}

/** Processes the audience inputs of each user in order, and starts the resulting writes. */
export class Inputs {
  readonly #deps: Deps
  readonly #waitForSchema: WaitForSchema<Undecoded>
  readonly #waitForAudience: WaitForAudience

  constructor(deps: Deps) {
    this.#deps = deps
    this.#waitForSchema = createSchemaWait<Undecoded>({
      ...deps,
      decode: ({ record, held }) => this.take(record, held),
      unknown: ({ record, held }) =>
        this.#refuse(record, held, 'the schema registry does not know the schema of the record'),
      dispatch: () => undefined,
    })
    this.#waitForAudience = createAudienceWait(deps)
  }

  take(record: LogRecord, held: OwnedAudiencePartition): void {
    held.open.add(record)
    if (record.unreadBatch !== undefined) return this.#refuse(record, held, record.unreadBatch.why)
    if (record.value === null) return this.#refuse(record, held, 'the value of the record is null')
    const decoded = this.#deps.codec.decode(record.value)
    switch (decoded.kind) {
      case 'value':
        return this.#admit(record, decoded.value, held)
      case 'schema_needed':
        return this.#waitForSchema({ record, processor: held.processor, held }, decoded.schemaId)
      case 'undecodable':
        return this.#refuse(record, held, decoded.detail)
    }
  }

  #admit(record: LogRecord, input: AudienceInput, held: OwnedAudiencePartition): void {
    const proceed = (): void => {
      held.order.add(new OpenInput(record, input, held))
      this.startReady(held)
    }
    if (!this.#waitForAudience(input, record, held.processor, proceed)) proceed()
  }

  /**
   * Queues membership records from Kafka. After a stale record (see `FoundRecord`), the current
   * state is written again, so that the last record of the key has this state.
   */
  takeFound(records: Iterable<ReadRecord>, held: OwnedAudiencePartition, isStale: boolean): void {
    for (const record of records) held.order.add(new FoundRecord(record, isStale))
    this.startReady(held)
  }

  /** Starts the queued inputs that are ready, while `gate` permits this. */
  startReady(held: OwnedAudiencePartition): void {
    const { gate } = this.#deps
    while (gate.mayStart(held.processor)) {
      const open = held.order.next()
      if (open === undefined) return
      if (open instanceof FoundRecord) this.#replace(open, held)
      else if (open.input.kind === 'forgotten') this.#beginDeletion(open, held)
      else this.#begin(open, held)
    }
  }

  #replace(found: FoundRecord, held: OwnedAudiencePartition): void {
    const { state, processor, order } = held
    const { record } = found
    const isStale =
      found.isStale || state.records.applyLateRecord(record, at => processor.tracker.isDone(at)) === 'stale'
    const change = isStale ? state.records.replacementOf(record) : undefined
    if (change === undefined) return order.done(found)
    const { writeChanges, metrics } = this.#deps
    const done = (isWritten: boolean): void => {
      if (!isWritten) return
      metrics.audienceStaleStates.inc({})
      order.done(found)
    }
    void this.#writeChanges(writeChanges({ value: change }, [].values(), processor, undefined), done, held)
  }

  /**
   * Begins the deletion of a user when this process has read the user's suppression. Until then,
   * later inputs of the partition wait, because they could add the user again.
   */
  #beginDeletion(open: OpenInput, held: OwnedAudiencePartition): void {
    const { clock, suppressions, gate } = this.#deps
    const isKnown = (): boolean => includesAllBefore(open.fetchedAt, suppressions, clock)
    if (isKnown()) return this.#begin(open, held)
    const check = async (): Promise<void> => {
      if (!(await gate.toStart(held.processor))) return
      if (!isKnown()) return void clock.after(checkEvery, () => void check())
      this.#begin(open, held)
      // A deletion that changes nothing is already done, so the inputs behind it may start.
      this.startReady(held)
    }
    clock.after(checkEvery, () => void check())
  }

  #begin(open: OpenInput, held: OwnedAudiencePartition): void {
    const { clock, writeChanges } = this.#deps
    const { offset: position, timestamp: at } = open.record
    const changes = held.state.applyInput(open.input, { position, at, now: () => clock.now() })[Symbol.iterator]()
    // Get the first effect before a trace begins, because an input without changes gets no trace.
    const first = changes.next()
    const reason = !first.done && first.value.kind === 'ignored' ? first.value.reason : undefined
    const toWrite = reason === undefined ? first : changes.next()
    if (toWrite.done) return this.#done(open, held, reason ?? 'unchanged')
    const trace = this.#traceOf(open)
    const done = (isWritten: boolean): void => {
      trace?.end(isWritten ? 'changed' : 'partition_lost')
      if (isWritten) this.#done(open, held, reason ?? 'changed')
    }
    void this.#writeChanges(writeChanges(toWrite, changes, held.processor, trace), done, held)
  }

  /** Starts the trace of an input. An `outcome` is already part of the trace of its delivery. */
  #traceOf({ record, input }: OpenInput): InputTrace | undefined {
    const { tracer, topics } = this.#deps
    if (tracer === undefined || input.kind === 'outcome' || input.kind === 'lost') return undefined
    return traceInput(tracer, { record, input, eventsTopic: topics.events })
  }

  async #writeChanges(
    writing: Promise<boolean>,
    done: (isWritten: boolean) => void,
    held: OwnedAudiencePartition,
  ): Promise<void> {
    const isWritten = await writing
    done(isWritten)
    if (isWritten) this.startReady(held)
  }

  #done(open: OpenInput, held: OwnedAudiencePartition, result: 'changed' | 'unchanged' | IgnoredReason): void {
    const { input, record } = open
    held.order.done(open)
    if (input.kind === 'lost')
      return input.isGone === true ? held.processor.resume('loss') : this.#deadLetter(record, held)
    this.#deps.metrics.audienceInputs.inc({ kind: input.kind, result })
    this.#logStaleSync(open, result)
    this.#finish(record, held)
  }

  /**
   * Logs that the end of a sync had no effect. The client does not know this, because it got a
   * success response.
   */
  #logStaleSync({ input, record }: OpenInput, result: string): void {
    if (input.kind !== 'sync_ended' || !staleReasons.some(reason => reason === result)) return
    const { audience, mode, syncId } = input
    const began = toIsoTimestamp(syncBegan(syncId))
    const fields = { audience, mode, syncId, began, result, partition: record.partition }
    this.#deps.logger.warn(
      fields,
      'hookline applied this audience sync only in part (see "syncId" and "began"): wait two minutes, then send your newest list; if this line repeats, run `hookline audience reset` for the audience, then send the list again',
    )
  }

  /**
   * Dead-letters an undecodable input. Before that, cancels full syncs, because their end would
   * remove the user whom this input may have listed.
   */
  #refuse(record: LogRecord, held: OwnedAudiencePartition, detail: string): void {
    const { topic, partition, offset } = record
    this.#deps.logger.warn(
      { topic, partition, offset, detail },
      'hookline cannot decode a record of the audience input topic (see "detail"), and dead-letters it; a full sync that is in progress, or begins within two minutes, may keep users who are not in its list: wait two minutes, then repeat the sync (see the runbook HooklineInputRefused)',
    )
    held.order.add(new OpenInput(record, { kind: 'lost' }, held))
    this.startReady(held)
  }

  /**
   * Cancels all full syncs in progress, and those that begin within a minute (`afterUnreadInput`),
   * because their end would remove users whom a lost record may have listed. Then resumes the
   * partition.
   */
  cancelSyncs(held: OwnedAudiencePartition): void {
    const { topic, partition, tracker } = held.processor
    const at = { topic, partition, offset: tracker.received - 1, timestamp: this.#deps.clock.now() }
    const record = { ...at, key: null, value: null, headers: {} }
    held.order.add(new OpenInput(record, { kind: 'lost', isGone: true }, held))
    this.startReady(held)
  }

  #finish(record: LogRecord, { open, processor }: OwnedAudiencePartition): void {
    open.delete(record)
    processor.done(record)
  }

  #deadLetter(record: LogRecord, held: OwnedAudiencePartition): void {
    const { writes, metrics } = this.#deps
    void writes.deadLetter(record, { reason: 'undecodable' }, held.processor).then(written => {
      if (!written) return
      metrics.audienceInputs.inc({ kind: '-', result: 'undecodable' })
      metrics.deadLetters.inc({ destination: '-', reason: 'undecodable' })
      this.#finish(record, held)
    })
  }
}
