import type { ComponentChildren } from 'preact'
import { useErrorBoundary } from 'preact/hooks'
import { toApiError } from '../api/api-error.ts'
import { Button } from './button.tsx'
import { ErrorMessage } from './error-message.tsx'
import { Page } from './page.tsx'

/**
 * Shows `children`, or the error that they throw while they are rendered. An uncaught error would
 * remove the whole console from the screen.
 */
export function ErrorBoundary({ children }: { readonly children: ComponentChildren }) {
  const [error, reset] = useErrorBoundary()
  if (error === undefined) return <>{children}</>
  return (
    <Page title="Error in the console" actions={<Button onClick={reset}>Try again</Button>}>
      <p>The console cannot show this page, because the console has a bug, or the data has an unknown form.</p>
      <ErrorMessage error={toApiError(error)} />
    </Page>
  )
}
