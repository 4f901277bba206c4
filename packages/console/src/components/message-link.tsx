import { Link } from 'wouter-preact'
import { messageAddress, spanBefore } from '../pages/messages/search-time-span.ts'

export interface MessageLinkProps {
  readonly id: string
  /**
   * Time of an attempt or a dead letter of the message (ISO 8601), to limit the searched time span.
   */
  readonly at: string
}

export function MessageLink({ id, at }: MessageLinkProps) {
  return (
    <Link href={messageAddress(id, spanBefore(at))} class="id">
      {id}
    </Link>
  )
}
