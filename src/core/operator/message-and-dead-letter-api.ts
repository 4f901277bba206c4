import type { DeadLetterQuery } from './dead-letter-query.ts'
import type { DeadLetterDetails, DeadLetterView } from './dead-letter-view.ts'
import type { MessageQuery } from './message-query.ts'
import type { MessageTimeline } from './message-timeline.ts'
import type { ObjectRefusal } from './object-refusal.ts'

export interface DeadLetterPage {
  /** The dead letters of the page, newest first. */
  readonly deadLetters: readonly DeadLetterView[]
  /** The value of `after` for the next page; absent on the last one. */
  readonly next?: string | undefined
  /**
   * Present when the page may be incomplete (a limit was reached), or may list a replayed dead
   * letter (`DeadLetterIndex.isFull`).
   */
  readonly partial?: true | undefined
}

export type MessageAndDeadLetterAnswer<T> = { readonly kind: 'answered'; readonly body: T } | ObjectRefusal

export interface MessageAndDeadLetterApi {
  message(query: MessageQuery): Promise<MessageAndDeadLetterAnswer<MessageTimeline>>
  deadLetters(query: DeadLetterQuery): Promise<MessageAndDeadLetterAnswer<DeadLetterPage>>
  /** `isFull`: with the headers, the event and the requests of a replay, for the role `operate`. */
  deadLetter(key: string, isFull: boolean): Promise<MessageAndDeadLetterAnswer<DeadLetterDetails>>
}
