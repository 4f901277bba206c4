import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { ApiClient } from '../api/api-client.ts'
import type { Session } from '../api/types.ts'

export interface SessionContext {
  readonly session: Session
  readonly api: ApiClient
  /** Whether the session has ended. If so, no request can succeed until the user signs in again. */
  readonly isPaused: boolean
  readonly signOut: () => Promise<void>
}

export const SessionOfPage = createContext<SessionContext | undefined>(undefined)

/** The session of the user who is signed in. Pages are rendered only while there is a session. */
export function useSession(): SessionContext {
  const context = useContext(SessionOfPage)
  if (context === undefined) throw new Error('useSession was called outside of SessionGate.')
  return context
}

/** Whether the role of the user permits changes, and reading the request bodies of dead letters. */
export const useCanOperate = (): boolean => useSession().session.role === 'operate'
