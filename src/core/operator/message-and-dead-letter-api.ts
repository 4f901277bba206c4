import type { DeadLetterQuery } from './dead-letter-query.ts'
import type { DeadLetterDetails, DeadLetterView } from './dead-letter-view.ts'
import type { MessageTimeline } from './message-timeline.ts'
import type { MessageQuery } from './message-timeline-query.ts'
import type { ObjectRefusal } from './object-refusal.ts'

export interface DeadLetterPage {
  /** The dead letters of the page, newest first. */
  readonly deadLetters: readonly DeadLetterView[]
  /** The value of `after` for the next page; absent on the last one. */
  readonly next?: string | undefined
  /**
   * Present when the page may be inexact. Dead letters may be missing, because the search reached a
   * limit. Or the page may contain replayed dead letters, because the index that recognises them is
   * full (`DeadLetterIndex.isFull`).
   */
  readonly partial?: true | undefined
}

export type MessageAndDeadLetterAnswer<T> = { readonly kind: 'answered'; readonly body: T } | ObjectRefusal

export interface MessageAndDeadLetterApi {
  message(query: MessageQuery): Promise<MessageAndDeadLetterAnswer<MessageTimeline>>
  deadLetters(query: DeadLetterQuery): Promise<MessageAndDeadLetterAnswer<DeadLetterPage>>
  /**
   * `includesEvent`: whether the response includes the headers, the event and the requests of a
   * replay. Only clients with the role `operate` may see these.
   */
  deadLetter(key: string, includesEvent: boolean): Promise<MessageAndDeadLetterAnswer<DeadLetterDetails>>
}
