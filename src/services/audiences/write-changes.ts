import {
  type MemberKey,
  type MembershipRecord,
  markKey,
  membershipKey,
  positionHeader,
  toMarkRecord,
  toMembershipRecord,
} from '../../core/audience/record.ts'
import type { Change } from '../../core/audience/transition.ts'
import { InFlight } from '../../core/flow/in-flight.ts'
import type { Event } from '../../core/message/event.ts'
import type { Metrics } from '../../core/metrics/metrics.ts'
import type { EventCodec, OutgoingRecord, ValueCodec } from '../../core/ports.ts'
import type { TopicNames } from '../../core/topics.ts'
import { traceHeaders } from '../../core/trace/context.ts'
import type { PartitionProcessor } from '../partitions/partition-processor.ts'
import type { InputTrace } from './input-trace.ts'
import type { MembershipUpdates } from './membership-updates.ts'
import type { Gate, Writes } from './writes.ts'

/** Changes of one input at once: the end of a sync may make millions. */
const maxInFlight = 500

interface Deps {
  readonly writes: Writes
  readonly updates: MembershipUpdates
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
export type WriteChanges = (
  first: IteratorResult<Change>,
  others: Iterator<Change>,
  processor: PartitionProcessor,
  trace: InputTrace | undefined,
) => Promise<boolean>

export function createWriteChanges({
  writes,
  updates,
  gate,
  events,
  memberships,
  topics,
  metrics,
}: Deps): WriteChanges {
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
    const inFlight = new InFlight(maxInFlight)
    const started = (writing: Promise<unknown>): void => {
      processor.started()
      void writing.then(() => {
        processor.ended()
        inFlight.ended()
      })
    }
    for (let next = first; !next.done; next = others.next()) {
      const { value } = next
      if (value.kind === 'ignored') continue
      if (value.kind === 'membership' && value.identify !== undefined) await updates.turn(processor)
      if (value.kind === 'mark') await inFlight.drained()
      await inFlight.begin()
      if (!(await gate.toStart(processor))) return false
      if (value.kind === 'membership') started(change(value, processor, trace))
      else
        started(
          writes.append(
            topics.memberships,
            recordOf(processor, markKey(value.audience), toMarkRecord(value.mark)),
            processor,
          ),
        )
      if (value.kind === 'mark') await inFlight.drained()
    }
    await inFlight.drained()
    return !processor.revoked
  }
}
