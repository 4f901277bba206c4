import { type ComponentChildren, Fragment } from 'preact'
import { Button } from '../components/button.tsx'
import { ErrorMessage } from '../components/error-message.tsx'
import { Loading } from '../components/loading.tsx'
import { SignInDialog } from '../pages/sign-in/sign-in-dialog.tsx'
import { SignInPage } from '../pages/sign-in/sign-in-page.tsx'
import { SessionOfPage } from './session-context.ts'
import { useCookieSession } from './use-cookie-session.ts'

/**
 * Shows the page to a signed-in user. If the session ends, the sign-in covers the page instead of
 * replacing it, so that the text that the user has typed is kept.
 */
export function SessionGate({ children }: { readonly children: ComponentChildren }) {
  const { state, api, read, enter, signOut } = useCookieSession()
  switch (state.kind) {
    case 'loading':
      return <Loading what="the session" />
    case 'failed':
      return (
        <main class="sign-in">
          <ErrorMessage error={state.error} />
          <Button onClick={read}>Try again</Button>
        </main>
      )
    case 'signed_out':
      return <SignInPage api={api} onSignedIn={enter} />
    case 'signed_in':
    case 'ended': {
      const { session, kind } = state
      const isPaused = kind === 'ended'
      return (
        <SessionOfPage.Provider value={{ session, api, isPaused, signOut }}>
          {/* If another user signs in, the new `key` makes Preact discard all typed text. */}
          <Fragment key={session.name}>{children}</Fragment>
          {isPaused && <SignInDialog api={api} onSignedIn={enter} />}
        </SessionOfPage.Provider>
      )
    }
  }
}
