import type { DeadLetterQuery } from './dead-letter-query.ts'
import type { DeadLetterDetails, DeadLetterView } from './dead-letter-view.ts'
import type { MessageQuery } from './message-query.ts'
import type { MessageTimeline } from './message-timeline.ts'
import type { ObjectRefusal } from './object-refusal.ts'

export interface DeadLetterPage {
  /** Newest first. */
  readonly deadLetters: readonly DeadLetterView[]
  /** The value of `after` for the next page; absent on the last one. */
  readonly next?: string | undefined
  /** Present when the page has fewer dead letters than asked for because the time was over. */
  readonly partial?: true | undefined
}

export type LogAnswer<T> = { readonly kind: 'answered'; readonly body: T } | ObjectRefusal

/** The operations behind the routes that read messages and dead letters from Kafka. */
export interface LogApi {
  message(query: MessageQuery): Promise<LogAnswer<MessageTimeline>>
  deadLetters(query: DeadLetterQuery): Promise<LogAnswer<DeadLetterPage>>
  /** `isFull`: with the headers and the event, for the role `operate`. */
  deadLetter(key: string, isFull: boolean): Promise<LogAnswer<DeadLetterDetails>>
}
