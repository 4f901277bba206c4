import { Link } from 'wouter-preact'
import { EmptyState } from '../components/empty-state.tsx'
import { Page } from '../components/page.tsx'

export function NotFoundPage() {
  return (
    <Page title="Page not found">
      <EmptyState title="The console has no page with this address.">
        <Link href="/">Go to the overview</Link>
      </EmptyState>
    </Page>
  )
}
