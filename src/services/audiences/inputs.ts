import { type AudienceInput, inputUser } from '../../core/audience/input.ts'
import { InputOrder, type QueuedInput } from '../../core/audience/input-order.ts'
import type { AudiencePartition } from '../../core/audience/partition.ts'
import { parseMembershipKey, type ReadRecord } from '../../core/audience/record.ts'
import { staleReasons, syncBegan } from '../../core/audience/sync.ts'
import type { IgnoredReason } from '../../core/audience/transition.ts'
import { toIsoTimestamp } from '../../core/message/timestamp.ts'
import type { Metrics } from '../../core/metrics/metrics.ts'
import type { Clock, Logger, LogRecord, ValueCodec } from '../../core/ports.ts'
import type { TopicNames } from '../../core/topics.ts'
import type { Tracer } from '../../core/trace/tracer.ts'
import type { PartitionProcessor } from '../partitions/partition-processor.ts'
import { createSchemaWait, type WaitForSchema } from '../partitions/schema-wait.ts'
import { type InputTrace, traceInput } from './input-trace.ts'
import { LogTail } from './memberships-log.ts'
import type { RestoredPartition } from './restore.ts'
import type { WriteChanges } from './write-changes.ts'
import type { Gate, Writes } from './writes.ts'

interface Deps {
  readonly codec: ValueCodec<AudienceInput>
  readonly writeChanges: WriteChanges
  readonly writes: Writes
  readonly gate: Gate
  readonly topics: Pick<TopicNames, 'events'>
  readonly clock: Clock
  readonly metrics: Metrics
  readonly logger: Logger
  readonly tracer?: Tracer | undefined
}

/** A partition that is ours, with its memberships as they are now. */
export interface Held {
  readonly processor: PartitionProcessor
  readonly state: AudiencePartition
  readonly order: InputOrder<OpenInput | FoundRecord>
  readonly tail: LogTail
}

export const heldWith = (processor: PartitionProcessor, { state, next }: RestoredPartition): Held => ({
  processor,
  state,
  order: new InputOrder(),
  tail: new LogTail(next),
})

/** A record of the memberships log that is stale, or may be. It waits until no input of its user is in progress. */
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

  isFence(): boolean {
    return this.user === undefined
  }
}

/** An input from its being taken up until it is done. */
class OpenInput implements QueuedInput {
  readonly record: LogRecord
  readonly input: AudienceInput
  readonly user: string | undefined
  readonly #state: AudiencePartition

  constructor(record: LogRecord, input: AudienceInput, state: AudiencePartition) {
    this.record = record
    this.input = input
    this.user = inputUser(input)
    this.#state = state
  }

  isFence(): boolean {
    return this.#state.isFence(this.input, this.record.timestamp)
  }
}

interface Undecoded {
  readonly record: LogRecord
  readonly processor: PartitionProcessor
  readonly held: Held
}

/** Takes inputs in: decodes, waits for their turns, has what they change written. */
export class Inputs {
  readonly #deps: Deps
  readonly #waitForSchema: WaitForSchema<Undecoded>

  constructor(deps: Deps) {
    this.#deps = deps
    this.#waitForSchema = createSchemaWait<Undecoded>({
      ...deps,
      decode: ({ record, held }) => this.take(record, held),
      unknown: ({ record, held }) => this.#refuse(record, held, 'its schema is not known'),
      dispatch: () => undefined,
    })
  }

  take(record: LogRecord, held: Held): void {
    if (record.unreadBatch !== undefined) return this.#refuse(record, held, record.unreadBatch.why)
    if (record.value === null) return this.#refuse(record, held, 'the value is null')
    const decoded = this.#deps.codec.decode(record.value)
    switch (decoded.kind) {
      case 'value':
        held.order.add(new OpenInput(record, decoded.value, held.state))
        return this.goOn(held)
      case 'schema_needed':
        return this.#waitForSchema({ record, processor: held.processor, held }, decoded.schemaId)
      case 'undecodable':
        return this.#refuse(record, held, decoded.detail)
    }
  }

  /** Has the state that holds written again over records of the log that are stale, or turn out to be (`isStale` false). */
  takeFound(records: Iterable<ReadRecord>, held: Held, isStale: boolean): void {
    for (const record of records) held.order.add(new FoundRecord(record, isStale))
    this.goOn(held)
  }

  /** Takes whatever may be taken now. */
  goOn(held: Held): void {
    const { gate } = this.#deps
    while (gate.mayStart(held.processor)) {
      const open = held.order.next()
      if (open === undefined) return
      if (open instanceof FoundRecord) this.#replace(open, held)
      else this.#begin(open, held)
    }
  }

  #replace(found: FoundRecord, held: Held): void {
    const { state, processor, order } = held
    const { record } = found
    const isStale = found.isStale || state.records.adopt(record, at => processor.tracker.isDone(at)) === 'stale'
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

  #begin(open: OpenInput, held: Held): void {
    const { clock, writeChanges } = this.#deps
    const { offset: position, timestamp: at } = open.record
    const changes = held.state.take(open.input, { position, at, now: () => clock.now() })[Symbol.iterator]()
    // What changes nothing is done at once, without waiting for anything.
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

  /** What the dispatcher reports says only how something ended that is traced already. */
  #traceOf({ record, input }: OpenInput): InputTrace | undefined {
    const { tracer, topics } = this.#deps
    if (tracer === undefined || input.kind === 'outcome') return undefined
    return traceInput(tracer, { record, input, eventsTopic: topics.events })
  }

  async #writeChanges(writing: Promise<boolean>, done: (isWritten: boolean) => void, held: Held): Promise<void> {
    const isWritten = await writing
    done(isWritten)
    if (isWritten) this.goOn(held)
  }

  #done(open: OpenInput, { order, processor }: Held, result: 'changed' | 'unchanged' | IgnoredReason): void {
    this.#deps.metrics.audienceInputs.inc({ kind: open.input.kind, result })
    this.#tellStale(open, result)
    order.done(open)
    processor.done(open.record)
  }

  /** Whoever sent the list was told that it is taken: only here shows that it came too late. */
  #tellStale({ input, record }: OpenInput, result: string): void {
    if (input.kind !== 'sync_ended' || !staleReasons.some(reason => reason === result)) return
    const { audience, mode, syncId } = input
    const began = toIsoTimestamp(syncBegan(syncId))
    const fields = { audience, mode, syncId, began, result, partition: record.partition }
    this.#deps.logger.warn(fields, 'an audience sync changes nothing: a newer one is known')
  }

  /** What cannot be read holds nothing up, and is kept for whoever looks for it. */
  #refuse(record: LogRecord, { processor }: Held, detail: string): void {
    const { writes, metrics, logger } = this.#deps
    const { topic, partition, offset } = record
    logger.warn({ topic, partition, offset, detail }, 'audience input cannot be decoded')
    void writes.deadLetter(record, { reason: 'undecodable' }, processor).then(written => {
      if (!written) return
      metrics.audienceInputs.inc({ kind: '-', result: 'undecodable' })
      metrics.deadLetters.inc({ destination: '-', reason: 'undecodable' })
      processor.done(record)
    })
  }
}
