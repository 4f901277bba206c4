import type { AudienceInput } from '../../core/audience/input.ts'
import { type DeletionRequest, deletesOf, marksOf } from '../../core/deletion/deletion-request.ts'
import { type DeletionRecord, deletionKey, encodeDeletion } from '../../core/deletion/deletion-status.ts'
import { markedAgain, unsuppressed } from '../../core/deletion/suppressions.ts'
import type { Event } from '../../core/message/event.ts'
import type { LogProducer, RecordHeaders } from '../../core/ports.ts'
import type { TopicNames } from '../../core/topics.ts'
import type { SuppressionList } from '../deletion/suppression-list.ts'
import { Appending } from './append-bound.ts'

export interface DeletionDeps {
  readonly producer: LogProducer
  readonly topics: Pick<TopicNames, 'events' | 'audienceInput' | 'deletions'>
  readonly marks: Pick<SuppressionList, 'update'>
  readonly encodeEvent: (event: Event) => Buffer
  readonly encodeInput: (input: AudienceInput) => Buffer
  /** Of every record that leads to more. */
  readonly headers?: RecordHeaders | undefined
}

/**
 * Carries a deletion out, each step acknowledged before the next: first nothing more of its users goes out, then audiences forget
 * them, then it can be asked about, then the delete messages go. Done again with the same record after a crash anywhere, it says the same
 * under the same ids. Rejects when Kafka does not take something; what was taken until then holds.
 */
export async function writeDeletion(
  { producer, topics, marks, encodeEvent, encodeInput, headers = {} }: DeletionDeps,
  request: DeletionRequest,
  record: DeletionRecord,
): Promise<void> {
  const added = marksOf(request, record.createdAt)
  await Promise.all(request.userIds.map(userId => marks.update(userId, current => markedAgain(current, added))))
  const appending = new Appending(producer)
  for (const userId of request.userIds) {
    await appending.room()
    const value = encodeInput({ kind: 'forgotten', userId })
    appending.add(topics.audienceInput, { key: Buffer.from(userId), value, headers })
  }
  await appending.ended()
  const value = Buffer.from(encodeDeletion(record))
  appending.add(topics.deletions, { key: Buffer.from(deletionKey(record.id)), value, headers: {} })
  await appending.ended()
  for (const event of deletesOf(request, record)) {
    await appending.room()
    const key = Buffer.from(event.message.userId as string)
    appending.add(topics.events, { key, value: encodeEvent(event), headers })
  }
  await appending.ended()
}

/** Lifts the suppression of users; what was deleted stays deleted. Resolves with those that were suppressed. */
export async function liftSuppression(
  { marks }: { readonly marks: Pick<SuppressionList, 'get' | 'update'> },
  userIds: readonly string[],
): Promise<readonly string[]> {
  const suppressed = userIds.filter(userId => marks.get(userId)?.some(({ isSuppressed }) => isSuppressed))
  await Promise.all(suppressed.map(id => marks.update(id, current => current && unsuppressed(current))))
  return suppressed
}
