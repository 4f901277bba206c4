import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { type ApiClient, createApiClient } from '../api/api-client.ts'
import { type ApiError, toApiError } from '../api/api-error.ts'
import type { Session } from '../api/response-types.ts'

export type SessionState =
  | { readonly kind: 'loading' }
  | { readonly kind: 'signed_out' }
  | { readonly kind: 'signed_in'; readonly session: Session }
  /** The session ended while the user worked. */
  | { readonly kind: 'ended'; readonly session: Session }
  | { readonly kind: 'failed'; readonly error: ApiError }

export interface CookieSession {
  readonly state: SessionState
  readonly api: ApiClient
  readonly read: () => void
  /** Shows the console with a session that has just begun. */
  readonly enter: (session: Session) => void
  /**
   * Ends the session. If the request fails and the session may still be valid, resolves with the
   * error, and the user stays signed in.
   */
  readonly signOut: () => Promise<ApiError | undefined>
}

/** The session of the browser's cookie, which all tabs share. */
export function useCookieSession(): CookieSession {
  const [state, setState] = useState<SessionState>({ kind: 'loading' })
  const token = useRef<string>()
  const signOuts = useRef(0)
  const lastRead = useRef(Promise.resolve())
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
  // Reads the session. Ignores the answer if the user signs out before it arrives.
  const read = (): void => {
    const before = signOuts.current
    const isOutdated = (): boolean => signOuts.current !== before
    lastRead.current = api.get<Session>('/v1/session').then(
      session => {
        if (!isOutdated()) enter(session)
      },
      failure => {
        const error = toApiError(failure)
        if (error.status === 401 || isOutdated()) return
        // A page that is already shown stays, to keep the text that the user has typed.
        setState(current => ('session' in current ? current : { kind: 'failed', error }))
      },
    )
  }
  useEffect(read, [api])
  useEffect(() => {
    // Another tab may have signed in or out with the same cookie, so read the session again.
    const onVisibility = (): void => {
      if (!document.hidden && token.current !== undefined) read()
    }
    document.addEventListener('visibilitychange', onVisibility)
    return () => document.removeEventListener('visibilitychange', onVisibility)
  }, [api])
  const endSession = (): Promise<ApiError | undefined> =>
    api.change('DELETE', '/v1/session').then(() => undefined, toApiError)
  const signOut = async (): Promise<ApiError | undefined> => {
    let error = await endSession()
    if (error?.code === 'invalid_csrf_token') {
      // The user has signed in again in another tab, and `onOtherSession` reads the new session.
      // Wait until its CSRF token is known.
      await lastRead.current
      error = await endSession()
    }
    if (error !== undefined && error.status !== 401) return error
    signOuts.current++
    token.current = undefined
    setState({ kind: 'signed_out' })
    return undefined
  }
  return { state, api, read, enter, signOut }
}
