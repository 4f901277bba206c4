import type { AudienceInput } from '../../core/audience/input.ts'
import {
  type DeletionRecord,
  deletionKey,
  encodeDeletionParts,
} from '../../core/deletion/deletion-record-and-status.ts'
import { type DeletionRequest, deleteMessagesOf, suppressionsOf } from '../../core/deletion/deletion-request.ts'
import { mergeSuppressions } from '../../core/deletion/suppressions.ts'
import type { Event } from '../../core/message/event.ts'
import type { LogProducer, RecordHeaders } from '../../core/ports.ts'
import { type EpochMs, epochMs } from '../../core/time.ts'
import type { TopicNames } from '../../core/topics.ts'
import type { SuppressionList } from '../deletion/suppression-list.ts'
import { BoundedAppender } from './limit-unacknowledged-records.ts'

/**
 * Maximum number of users whose suppressions are changed concurrently. It limits the memory,
 * because the record of a user can be large.
 */
const maxConcurrentUsers = 500

export interface DeletionDeps {
  readonly producer: LogProducer
  readonly topics: Pick<TopicNames, 'events' | 'audienceInput' | 'deletions'>
  readonly suppressions: Pick<SuppressionList, 'update'>
  readonly brokersNow: () => Promise<EpochMs>
  readonly encodeEvent: (event: Event) => Buffer
  readonly encodeInput: (input: AudienceInput) => Buffer
  /** Trace headers of the audience inputs and the delete messages. */
  readonly headers?: RecordHeaders | undefined
}

/**
 * Carries out a deletion in four steps, each after Kafka has stored the previous one:
 * - Add the users to the suppression list with the current time, so that messages received after
 *   the request are stopped too.
 * - Write an input for each user, so that the audiences service forgets the user.
 * - Store the records from which the status of the deletion is read.
 * - Write the delete messages.
 *
 * Rejects if Kafka does not store a record; the stored ones stay in effect. After a crash, a
 * repeated call with the same `record` writes delete messages with the same ids.
 */
export async function writeDeletion(
  { producer, topics, suppressions, brokersNow, encodeEvent, encodeInput, headers = {} }: DeletionDeps,
  request: DeletionRequest,
  record: DeletionRecord,
): Promise<void> {
  for (let first = 0; first < request.userIds.length; first += maxConcurrentUsers) {
    // The delete messages have the time `createdAt`. The dispatcher accepts them only with a
    // suppression of this time or later.
    const at = epochMs(Math.max(await brokersNow(), record.createdAt))
    const added = suppressionsOf(request, at)
    const update = (userId: string) => suppressions.update(userId, current => mergeSuppressions(current, added))
    await Promise.all(request.userIds.slice(first, first + maxConcurrentUsers).map(update))
  }
  const appending = new BoundedAppender(producer)
  for (const userId of request.userIds) {
    await appending.room()
    const value = encodeInput({ kind: 'forgotten', userId })
    appending.add(topics.audienceInput, { key: Buffer.from(userId), value, headers })
  }
  await appending.ended()
  const partitionKey = Buffer.from(deletionKey(record.id))
  for (const { key, value } of encodeDeletionParts(record)) {
    await appending.room()
    appending.add(topics.deletions, { key: Buffer.from(key), value: Buffer.from(value), headers: {}, partitionKey })
  }
  await appending.ended()
  for (const event of deleteMessagesOf(request, record)) {
    await appending.room()
    const key = Buffer.from(event.message.userId as string)
    appending.add(topics.events, { key, value: encodeEvent(event), headers })
  }
  await appending.ended()
}
