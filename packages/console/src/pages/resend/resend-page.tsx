import { useSearch } from 'wouter-preact'
import { OperatePage } from '../../components/operate-page.tsx'
import { ResendEvents } from './resend-events.tsx'

/** Resends the events of a time span to one destination. */
export function ResendPage() {
  const destination = new URLSearchParams(useSearch()).get('destination') ?? ''
  return (
    <OperatePage title="Resend events" purpose="To resend events">
      <ResendEvents key={destination} destination={destination} />
    </OperatePage>
  )
}
