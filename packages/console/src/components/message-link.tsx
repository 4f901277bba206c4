import { Link } from 'wouter-preact'
import { messageAddress, spanBefore } from '../pages/messages/message-span.ts'

export interface MessageLinkProps {
  readonly id: string
  /** The time of an attempt or a dead letter of the message, which bounds the search for it. */
  readonly at: string
}

/** A link to the timeline of a message. */
export function MessageLink({ id, at }: MessageLinkProps) {
  return (
    <Link href={messageAddress(id, spanBefore(at))} class="id">
      {id}
    </Link>
  )
}
