import type { AudienceWatermark } from '../../core/audience/audience-watermark.ts'
import { visitsPerTurn } from '../../core/audience/input-effect-types.ts'
import type { Membership } from '../../core/audience/membership.ts'
import {
  fromMembershipRecord,
  fromWatermarkRecord,
  type MemberKey,
  type MembershipRecord,
  parseMembershipKey,
} from '../../core/audience/membership-and-watermark-records.ts'
import { Memberships } from '../../core/audience/memberships.ts'
import type { Clock, LogRecord, TopicReader, ValueCodec } from '../../core/ports.ts'
import { nextIteration } from '../../core/sleep-and-yield.ts'
import { decodeWithSchemaFetch } from '../decode-with-schema-fetch.ts'

export interface MembershipSource {
  readonly reader: TopicReader
  readonly topic: string
  readonly codec: ValueCodec<MembershipRecord>
  readonly clock: Pick<Clock, 'soon'>
}

export interface MembershipVisitor {
  /** Whether to visit an audience. If absent, all audiences are visited. */
  isWanted?(audience: string): boolean
  /**
   * Called with the membership of one user at one destination, in any order; calls do not overlap.
   */
  onMembership(key: MemberKey, state: Membership): void | Promise<void>
  onWatermark?(audience: string, watermark: AudienceWatermark): void
}

/**
 * Passes the last record of each key to the visitor, with one partition in memory at a time.
 * Rejects if a record cannot be read.
 */
export async function visitMemberships(source: MembershipSource, visitor: MembershipVisitor): Promise<void> {
  const { isWanted = () => true } = visitor
  let current: number | undefined
  let kept = new KeptPartition()
  await readRecords(source, isWanted, async (about, record, partition) => {
    if (current !== undefined && partition !== current) {
      await kept.visitAll(visitor, source.clock)
      kept = new KeptPartition()
    }
    current = partition
    kept.put(about, record)
  })
  await kept.visitAll(visitor, source.clock)
}

type About = MemberKey | { readonly audience: string }

async function readRecords(
  { reader, topic, codec }: MembershipSource,
  isWanted: (audience: string) => boolean,
  onRecord: (about: About, record: MembershipRecord | undefined, partition: number) => void | Promise<void>,
): Promise<void> {
  await reader.readToEnd(topic, async record => {
    const { partition, offset, unreadBatch } = record
    if (unreadBatch !== undefined)
      throw notAllRead(`records ${unreadBatch.firstOffset} to ${offset} of partition ${partition}`, unreadBatch.why)
    const about = parseMembershipKey(record.key?.toString() ?? '')
    if (about === undefined || !isWanted(about.audience)) return
    const value = record.value === null ? undefined : await decoded(record, record.value, codec)
    await onRecord(about, value, record.partition)
  })
}

async function decoded(
  record: LogRecord,
  value: Buffer,
  codec: ValueCodec<MembershipRecord>,
): Promise<MembershipRecord> {
  const read = await decodeWithSchemaFetch(codec, () => codec.decode(value))
  if (read.kind === 'value') return read.value
  const { topic, partition, offset } = record
  throw notAllRead(`record ${topic}/${partition}/${offset}`, read.detail)
}

const notAllRead = (what: string, detail: string): Error =>
  new Error(
    `cannot read all audience members, because ${what} cannot be decoded: ${detail}; reads fail until Kafka has compacted these records`,
  )

/** The last record of each key of one partition. */
class KeptPartition {
  readonly #members = new Memberships()
  readonly #watermarks = new Map<string, AudienceWatermark>()

  put(about: About, record: MembershipRecord | undefined): void {
    if ('userId' in about) this.#members.put(about, record && fromMembershipRecord(record))
    else this.#putWatermark(about.audience, record && fromWatermarkRecord(record))
  }

  /**
   * Passes all watermarks and memberships to the visitor, with pauses for other work of the
   * process.
   */
  async visitAll({ onMembership, onWatermark }: MembershipVisitor, clock: Pick<Clock, 'soon'>): Promise<void> {
    let visits = 0
    for (const [audience, watermark] of this.#watermarks) onWatermark?.(audience, watermark)
    for (const [audience, byDestination] of this.#members.all())
      for (const [destination, table] of byDestination)
        for (const userId of table.users()) {
          const visited = onMembership({ audience, userId, destination }, table.get(userId) as Membership)
          if (visited !== undefined) await visited
          if (++visits % visitsPerTurn === 0) await nextIteration(clock)
        }
  }

  #putWatermark(audience: string, watermark: AudienceWatermark | undefined): void {
    if (watermark === undefined) this.#watermarks.delete(audience)
    else this.#watermarks.set(audience, watermark)
  }
}
