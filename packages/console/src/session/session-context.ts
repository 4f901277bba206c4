import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { ApiClient } from '../api/api-client.ts'
import type { Session } from '../api/types.ts'

export interface SessionContext {
  readonly session: Session
  readonly api: ApiClient
  /** Whether the session has ended, so that no request can succeed until the user signs in again. */
  readonly isPaused: boolean
  readonly signOut: () => Promise<void>
}

export const SessionOfPage = createContext<SessionContext | undefined>(undefined)

/** The session of the user who is signed in. Every page is rendered only with one. */
export function useSession(): SessionContext {
  const context = useContext(SessionOfPage)
  if (context === undefined) throw new Error('There is no session.')
  return context
}

/** Whether the role of the user permits changes and reading bodies. */
export const useCanOperate = (): boolean => useSession().session.role === 'operate'
