import { useSearch } from 'wouter-preact'
import { EmptyState } from '../../components/empty-state.tsx'
import { Page } from '../../components/page.tsx'
import { useCanOperate } from '../../session/session-context.ts'
import { ResendEvents } from './resend-events.tsx'

/** Resends the events of a time span to one destination. */
export function ResendPage() {
  const canOperate = useCanOperate()
  const destination = new URLSearchParams(useSearch()).get('destination') ?? ''
  return (
    <Page title="Resend events">
      {canOperate ? (
        <ResendEvents key={destination} destination={destination} />
      ) : (
        <EmptyState title='Your key has the role "read", which allows no changes.'>
          To resend events, sign in with a key that has the role "operate".
        </EmptyState>
      )}
    </Page>
  )
}
