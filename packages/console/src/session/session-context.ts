import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { Session } from '../api/response-types.ts'
import type { CookieSession } from './use-cookie-session.ts'

export interface SessionContext extends Pick<CookieSession, 'api' | 'signOut'> {
  readonly session: Session
  /**
   * Whether the session has ended, so that no request can succeed until the user signs in again.
   */
  readonly isPaused: boolean
}

export const SessionOfPage = createContext<SessionContext | undefined>(undefined)

/** The session of the user who is signed in. Throws outside of `SessionGate`. */
export function useSession(): SessionContext {
  const context = useContext(SessionOfPage)
  if (context === undefined) throw new Error('useSession was called outside of SessionGate.')
  return context
}

/** Whether the user may make changes, and read the request bodies of dead letters. */
export const useCanOperate = (): boolean => useSession().session.role === 'operate'
