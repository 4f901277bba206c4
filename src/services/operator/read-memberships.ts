import type { Membership } from '../../core/audience/membership.ts'
import { Memberships } from '../../core/audience/memberships.ts'
import {
  fromMarkRecord,
  fromMembershipRecord,
  type MemberKey,
  type MembershipRecord,
  parseMembershipKey,
} from '../../core/audience/record.ts'
import type { AudienceMark } from '../../core/audience/sync.ts'
import type { LogRecord, TopicReader, ValueCodec } from '../../core/ports.ts'
import { decodeLearning } from '../decode-learning.ts'

export interface MembershipSource {
  readonly reader: TopicReader
  readonly topic: string
  readonly codec: ValueCodec<MembershipRecord>
}

export interface MembershipVisitor {
  /** Audiences that are wanted; all of them when it is left out. */
  isWanted?(audience: string): boolean
  /** What is kept of one user at one destination; awaited. In no particular order. */
  onMembership(key: MemberKey, state: Membership): void | Promise<void>
  /** What is kept of an audience in one partition. */
  onMark?(audience: string, mark: AudienceMark): void
}

/**
 * Reads the memberships topic and hands over what holds there. Memory is for one partition at a time: until it has been read nobody knows
 * which record of a key is the last. Rejects when the topic, or a record of it, cannot be read.
 */
export async function visitMemberships(source: MembershipSource, visitor: MembershipVisitor): Promise<void> {
  const { isWanted = () => true } = visitor
  let current: number | undefined
  let kept = new KeptPartition()
  await readRecords(source, isWanted, async (about, record, partition) => {
    if (current !== undefined && partition !== current) {
      await kept.handOver(visitor)
      kept = new KeptPartition()
    }
    current = partition
    kept.put(about, record)
  })
  await kept.handOver(visitor)
}

type About = MemberKey | { readonly audience: string }

async function readRecords(
  { reader, topic, codec }: MembershipSource,
  isWanted: (audience: string) => boolean,
  onRecord: (about: About, record: MembershipRecord | undefined, partition: number) => void | Promise<void>,
): Promise<void> {
  await reader.readToEnd(topic, async record => {
    const about = parseMembershipKey(record.key?.toString() ?? '')
    if (about === undefined || !isWanted(about.audience)) return
    const value = record.value === null ? undefined : await decoded(record, record.value, codec)
    await onRecord(about, value, record.partition)
  })
}

async function decoded(
  { topic, partition, offset }: LogRecord,
  value: Buffer,
  codec: ValueCodec<MembershipRecord>,
): Promise<MembershipRecord> {
  const read = await decodeLearning(codec, () => codec.decode(value))
  if (read.kind === 'value') return read.value
  throw new Error(`${topic}/${partition}/${offset} cannot be read: ${read.detail}`)
}

/** What holds in one partition. */
class KeptPartition {
  readonly #members = new Memberships()
  readonly #marks = new Map<string, AudienceMark>()

  put(about: About, record: MembershipRecord | undefined): void {
    if ('userId' in about) this.#members.put(about, record && fromMembershipRecord(record))
    else this.#putMark(about.audience, record && fromMarkRecord(record))
  }

  async handOver({ onMembership, onMark }: MembershipVisitor): Promise<void> {
    for (const [audience, mark] of this.#marks) onMark?.(audience, mark)
    for (const [audience, byDestination] of this.#members.all())
      for (const [destination, table] of byDestination)
        for (const userId of table.users()) {
          const visited = onMembership({ audience, userId, destination }, table.get(userId) as Membership)
          if (visited !== undefined) await visited
        }
  }

  #putMark(audience: string, mark: AudienceMark | undefined): void {
    if (mark === undefined) this.#marks.delete(audience)
    else this.#marks.set(audience, mark)
  }
}
