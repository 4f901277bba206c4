import type { Change } from '../../core/audience/change.ts'
import {
  type MemberKey,
  type MembershipRecord,
  markKey,
  membershipKey,
  positionHeader,
  toMarkRecord,
  toMembershipRecord,
} from '../../core/audience/record.ts'
import type { Event } from '../../core/message/event.ts'
import type { Metrics } from '../../core/metrics.ts'
import type { EventCodec, OutgoingRecord, ValueCodec } from '../../core/ports.ts'
import type { TopicNames } from '../../core/topics.ts'
import { traceHeaders } from '../../core/trace/context.ts'
import type { PartitionProcessor } from '../partitions/partition-processor.ts'
import type { Emissions } from './emissions.ts'
import type { Gate } from './gate.ts'
import type { InputTrace } from './input-trace.ts'
import type { Writes } from './writes.ts'

/** Changes of one input at once: the end of a sync may make millions. */
const mostUnderWay = 500

interface Deps {
  readonly writes: Writes
  readonly emissions: Emissions
  readonly gate: Gate
  readonly events: EventCodec
  readonly memberships: ValueCodec<MembershipRecord>
  readonly topics: Pick<TopicNames, 'events' | 'memberships'>
  readonly metrics: Metrics
}

type MembershipChange = Extract<Change, { kind: 'membership' }>

/**
 * Writes what one input changes: of each change first the identify and, when that is acknowledged, the state; a mark when all before it is
 * acknowledged, and nothing after it before it is. Resolves with false when the partition is not ours any more: then nothing further is written.
 */
export type CarryOut = (
  first: IteratorResult<Change>,
  others: Iterator<Change>,
  processor: PartitionProcessor,
  trace: InputTrace | undefined,
) => Promise<boolean>

export function createCarryOut({ writes, emissions, gate, events, memberships, topics, metrics }: Deps): CarryOut {
  const recordOf = (processor: PartitionProcessor, key: string, value: MembershipRecord | number): OutgoingRecord => ({
    key: Buffer.from(key),
    // A tombstone has its position in a header.
    ...(typeof value === 'number'
      ? { value: null, headers: { [positionHeader]: String(value) } }
      : { value: memberships.encode(value), headers: {} }),
    // Not by the key: with the inputs of the same users.
    partition: processor.partition,
  })

  async function emit(
    key: MemberKey,
    identify: Event,
    processor: PartitionProcessor,
    trace?: InputTrace,
  ): Promise<boolean> {
    const span = trace?.emit(key.destination)
    const record = {
      key: Buffer.from(key.userId),
      value: events.encode(identify),
      headers: traceHeaders(span?.context),
    }
    const isWritten = await writes.append(topics.events, record, processor)
    span?.end({}, isWritten ? undefined : 'partition_lost')
    if (isWritten) metrics.audienceEmitted.inc({ destination: key.destination })
    return isWritten
  }

  async function change(
    { key, identify, state, position }: MembershipChange,
    processor: PartitionProcessor,
    trace?: InputTrace,
  ): Promise<boolean> {
    if (identify !== undefined && !(await emit(key, identify, processor, trace))) return false
    const record = recordOf(processor, membershipKey(key), state === undefined ? position : toMembershipRecord(state))
    return writes.append(topics.memberships, record, processor)
  }

  return async (first, others, processor, trace) => {
    const changes = new UnderWay(processor)
    for (let next = first; !next.done; next = others.next()) {
      const { value } = next
      if (value.kind === 'ignored') continue
      if (value.kind === 'membership' && value.identify !== undefined) await emissions.turn(processor)
      await changes.atMost(value.kind === 'mark' ? 0 : mostUnderWay - 1)
      if (!(await gate.toStart(processor))) return false
      if (value.kind === 'membership') changes.start(change(value, processor, trace))
      else
        changes.start(
          writes.append(
            topics.memberships,
            recordOf(processor, markKey(value.audience), toMarkRecord(value.mark)),
            processor,
          ),
        )
      if (value.kind === 'mark') await changes.atMost(0)
    }
    await changes.atMost(0)
    return !processor.revoked
  }
}

/** The changes of one input that are being written. */
class UnderWay {
  readonly #processor: PartitionProcessor
  #count = 0
  #onEnd = (): void => undefined

  constructor(processor: PartitionProcessor) {
    this.#processor = processor
  }

  start(writing: Promise<unknown>): void {
    this.#count++
    this.#processor.started()
    void writing.then(() => {
      this.#count--
      this.#processor.ended()
      this.#onEnd()
    })
  }

  async atMost(count: number): Promise<void> {
    while (this.#count > count)
      await new Promise<void>(resolve => {
        this.#onEnd = resolve
      })
  }
}
