import { type ComponentChildren, Fragment } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { createApiClient } from '../api/api-client.ts'
import { type ApiError, toApiError } from '../api/api-error.ts'
import type { Session } from '../api/types.ts'
import { Button } from '../components/button.tsx'
import { ErrorMessage } from '../components/error-message.tsx'
import { Loading } from '../components/loading.tsx'
import { SignInDialog } from '../pages/sign-in/sign-in-dialog.tsx'
import { SignInPage } from '../pages/sign-in/sign-in-page.tsx'
import { SessionOfPage } from './session-context.ts'

type State =
  | { readonly kind: 'loading' }
  | { readonly kind: 'signed_out' }
  | { readonly kind: 'signed_in'; readonly session: Session }
  /** The session ended while the user worked. */
  | { readonly kind: 'ended'; readonly session: Session }
  | { readonly kind: 'failed'; readonly error: ApiError }

/**
 * Shows the page to a user with a session. Without a session, it shows the sign-in at the same
 * address. If the session ends while the user works, the sign-in covers the page, and the page
 * keeps the typed text.
 */
export function SessionGate({ children }: { readonly children: ComponentChildren }) {
  const [state, setState] = useState<State>({ kind: 'loading' })
  const token = useRef<string>()
  const api = useMemo(
    () =>
      createApiClient({
        fetch: (...args) => fetch(...args),
        csrfToken: () => token.current,
        onSignedOut: () =>
          setState(before =>
            before.kind === 'signed_in' || before.kind === 'ended'
              ? { kind: 'ended', session: before.session }
              : { kind: 'signed_out' },
          ),
        onOtherSession: () => read(),
      }),
    [],
  )
  const enter = (session: Session): void => {
    token.current = session.csrfToken
    setState({ kind: 'signed_in', session })
  }
  const read = (): void => {
    api.get<Session>('/v1/session').then(enter, failure => {
      const error = toApiError(failure)
      if (error.status !== 401) setState(before => (before.kind === 'signed_in' ? before : { kind: 'failed', error }))
    })
  }
  useEffect(read, [api])
  useEffect(() => {
    // When the tab is shown again, read the session again, because another tab may have signed in
    // or out with the same cookie.
    const onVisibility = (): void => {
      if (!document.hidden && token.current !== undefined) read()
    }
    document.addEventListener('visibilitychange', onVisibility)
    return () => document.removeEventListener('visibilitychange', onVisibility)
  }, [api])
  const signOut = async (): Promise<void> => {
    await api.change('DELETE', '/v1/session').catch(() => undefined)
    token.current = undefined
    setState({ kind: 'signed_out' })
  }
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
