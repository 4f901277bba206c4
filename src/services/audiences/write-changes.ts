import type { InputEffect } from '../../core/audience/input-effect-types.ts'
import {
  type MemberKey,
  type MembershipRecord,
  membershipKey,
  positionHeader,
  toMembershipRecord,
  toWatermarkRecord,
  watermarkKey,
} from '../../core/audience/membership-and-watermark-records.ts'
import { Semaphore } from '../../core/collections/semaphore.ts'
import type { Event } from '../../core/message/event.ts'
import type { Metrics } from '../../core/metrics/metrics.ts'
import type { Clock, EventCodec, OutgoingRecord, ValueCodec } from '../../core/ports.ts'
import { nextIteration } from '../../core/sleep-and-yield.ts'
import type { TopicNames } from '../../core/topics.ts'
import { traceHeaders } from '../../core/trace/context.ts'
import type { OwnershipGate } from '../partitions/ownership-gate.ts'
import type { PartitionProcessor } from '../partitions/partition-processor.ts'
import type { AudienceWrites } from './append-audience-records-until-stored.ts'
import type { InputTrace } from './input-trace.ts'
import type { MembershipUpdatePacer } from './membership-update-pacer.ts'

/** Maximum number of changes of one input that are written concurrently. */
const maxInFlight = 500

interface Deps {
  readonly writes: AudienceWrites
  readonly updates: MembershipUpdatePacer
  readonly gate: OwnershipGate
  readonly events: EventCodec
  readonly memberships: ValueCodec<MembershipRecord>
  readonly topics: Pick<TopicNames, 'events' | 'memberships'>
  readonly clock: Pick<Clock, 'soon'>
  readonly metrics: Metrics
}

type MembershipChange = Extract<InputEffect, { kind: 'membership' }>

/**
 * Writes the changes of one input. Resolves with false when the partition is revoked.
 * - Membership change: the new membership is written after its identify message is acknowledged.
 * - Watermark: written when all earlier membership changes are acknowledged, and before later ones.
 */
export type WriteChanges = (
  first: IteratorResult<InputEffect>,
  others: Iterator<InputEffect>,
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
  clock,
  metrics,
}: Deps): WriteChanges {
  const recordOf = (processor: PartitionProcessor, key: string, value: MembershipRecord | number): OutgoingRecord => ({
    key: Buffer.from(key),
    // A tombstone has no value, so a header has the offset of its input.
    ...(typeof value === 'number'
      ? { value: null, headers: { [positionHeader]: String(value) } }
      : { value: memberships.encode(value), headers: {} }),
    // The owner of an input partition reads the memberships partition with the same number. The
    // hash of the key would select another partition.
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
    const inFlight = new Semaphore(maxInFlight)
    const started = (writing: Promise<unknown>): void => {
      processor.started()
      void writing.then(() => {
        processor.ended()
        inFlight.release()
      })
    }
    let last: 'membership' | 'watermark' | undefined
    for (let next = first; !next.done; next = others.next()) {
      const { value } = next
      if (value.kind === 'visited') await nextIteration(clock)
      if (processor.revoked) return false
      if (value.kind === 'visited' || value.kind === 'ignored') continue
      if (value.kind === 'membership' && value.identify !== undefined) await updates.turn(processor)
      if (value.kind !== last) await inFlight.drained()
      last = value.kind
      await inFlight.acquire()
      if (!(await gate.toStart(processor))) return false
      if (value.kind === 'membership') started(change(value, processor, trace))
      else
        started(
          writes.append(
            topics.memberships,
            recordOf(processor, watermarkKey(value.audience), toWatermarkRecord(value.watermark)),
            processor,
          ),
        )
    }
    await inFlight.drained()
    return !processor.revoked
  }
}
