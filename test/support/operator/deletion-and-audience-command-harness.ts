import type { CommandClients } from '../../../src/app/kafka-clients-of-commands.ts'
import { emptyWatermark } from '../../../src/core/audience/audience-watermark.ts'
import { type AudienceInput, inputUser } from '../../../src/core/audience/input.ts'
import type { Membership } from '../../../src/core/audience/membership.ts'
import {
  type MemberKey,
  type MembershipRecord,
  membershipKey,
  toMembershipRecord,
  toWatermarkRecord,
  watermarkKey,
} from '../../../src/core/audience/membership-and-watermark-records.ts'
import { type SyncId, syncId } from '../../../src/core/audience/sync-id.ts'
import { defaultSuppressionRetention } from '../../../src/core/default-suppression-retention.ts'
import { decodeSuppressions, type UserSuppressions } from '../../../src/core/deletion/suppressions.ts'
import type { JsonText } from '../../../src/core/message/canonical-json-text.ts'
import type { Event } from '../../../src/core/message/event.ts'
import { partitionFor } from '../../../src/core/message/partition-for-key.ts'
import type { LogRecord, TopicReader } from '../../../src/core/ports.ts'
import { epochMs } from '../../../src/core/time.ts'
import { topicNames } from '../../../src/core/topics.ts'
import { createSuppressionList } from '../../../src/services/deletion/suppression-list.ts'
import { JsonEventCodec, JsonValueCodec } from '../kafka/json-codec.ts'
import { MemoryLog } from '../kafka/memory-log.ts'
import { ManualClock } from '../manual-clock.ts'
import { silent } from '../telemetry/silent-logger.ts'

export const topics = topicNames('hookline')
const partitions = 2

export class OperatorHarness {
  readonly clock = new ManualClock()
  readonly log = new MemoryLog(this.clock, partitions)
  /**
   * Committed offsets of the audiences service. By default, all records of its input are committed.
   */
  committed: (() => readonly number[]) | undefined
  /** Time in ms to read one record. */
  readMs = 0
  /** By how many ms the brokers' clock is ahead of this machine's. */
  brokersAhead = 0
  readonly read: string[] = []
  open = 0

  access(): CommandClients {
    this.open++
    const producer = this.log.producer()
    const ends = async (topic: string): Promise<readonly number[]> => this.#ends(topic)
    const { clock } = this
    const follower = this.log.follower(topics.suppressions)
    const deps = { follower, producer, topic: topics.suppressions, clock, logger: silent }
    const marks = createSuppressionList({ ...deps, retention: defaultSuppressionRetention })
    return {
      clock,
      producer,
      reader: this.reader(),
      positions: { ends, committed: async (_group, topic) => this.committed?.() ?? ends(topic) },
      countPartitions: async () => partitions,
      events: async () => new JsonEventCodec(),
      inputs: async () => new JsonValueCodec<AudienceInput>(),
      brokerTime: async () => epochMs(this.clock.now() + this.brokersAhead),
      memberships: async () => new JsonValueCodec<MembershipRecord>(),
      suppressions: async () => {
        await marks.start()
        return marks
      },
      close: async () => {
        this.open--
      },
    }
  }

  reader(): TopicReader {
    return {
      readToEnd: async (topic, onRecord, { key, since = 0, from = [], mustStop = () => false } = {}) => {
        this.read.push(topic)
        const only = key && partitionFor(key, partitions)
        const records = this.log
          .records(topic)
          .filter(({ partition, timestamp }) => timestamp >= since && (only === undefined || partition === only))
          .filter(({ partition, offset }) => offset >= (from[partition] ?? 0))
        let count = 0
        for (const record of records) {
          if (mustStop()) break
          await this.clock.advance(this.readMs)
          await onRecord(record)
          count++
        }
        return count
      },
    }
  }

  /** Acknowledges writes and delivers records until `work` has ended. */
  async during<T>(work: Promise<T>): Promise<T> {
    let isRunning = true
    const done = work.finally(() => (isRunning = false))
    done.catch(() => {})
    while (isRunning) {
      await new Promise(resolve => setImmediate(resolve))
      this.log.poll()
    }
    return done
  }

  inputs(): readonly AudienceInput[] {
    return this.log.records(topics.audienceInput).map(({ value }) => JSON.parse(String(value)) as AudienceInput)
  }

  /** The records of the audience input topic, for example `observed u-1 true`. */
  inputsTold(): readonly string[] {
    return this.inputs().map(input =>
      [input.kind, inputUser(input), 'value' in input ? input.value : undefined].filter(Boolean).join(' '),
    )
  }

  events(): readonly Event[] {
    return this.log.records(topics.events).map(({ value }) => JSON.parse(String(value)) as Event)
  }

  marksOf(userId: string): UserSuppressions | undefined {
    const last = this.log.records(topics.suppressions).findLast(({ key }) => String(key) === userId)
    return last?.value ? decodeSuppressions(last.value.toString()) : undefined
  }

  /** Writes a user's membership to the memberships topic; undefined writes a tombstone. */
  keep(key: MemberKey, state: Partial<Membership> | undefined): void {
    const partition = partitionFor(Buffer.from(key.userId), partitions)
    this.#write(topics.memberships, membershipKey(key), partition, state && toMembershipRecord({ ...member, ...state }))
  }

  /**
   * Writes a watermark of an audience to every partition. `cancelledBelow` is the newest full sync
   * that has begun, `closedUpTo` the newest one that has ended.
   */
  keepWatermark(audience: string, cancelledBelow: SyncId, closedUpTo = emptyWatermark.closedUpTo): void {
    for (let partition = 0; partition < partitions; partition++)
      this.#write(
        topics.memberships,
        watermarkKey(audience),
        partition,
        toWatermarkRecord({ ...emptyWatermark, cancelledBelow, closedUpTo }),
      )
  }

  #write(topic: string, key: string, partition: number, value: MembershipRecord | undefined): void {
    const bytes = value === undefined ? null : new JsonValueCodec<MembershipRecord>().encode(value)
    this.log.producer().append(topic, { key: Buffer.from(key), value: bytes, headers: {}, partition }, () => {})
    this.log.poll()
  }

  #ends(topic: string): readonly number[] {
    const byPartition = Map.groupBy(this.log.records(topic), ({ partition }: LogRecord) => partition)
    return Array.from({ length: partitions }, (_, partition) => byPartition.get(partition)?.length ?? 0)
  }
}

/** A member whose value the destination has acknowledged. */
export const member: Membership = {
  desired: 'true' as JsonText,
  acknowledged: 'true' as JsonText,
  inFlight: undefined,
  version: 1,
  syncId: syncId(1_000),
  unconfirmed: undefined,
  position: 0,
}
