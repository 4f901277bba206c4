import { useState } from 'preact/hooks'
import { useSession } from '../session/session-context.ts'
import type { Change, Method } from './api-client.ts'
import { type ApiError, toApiError } from './api-error.ts'

export interface Changing {
  readonly isRunning: boolean
  readonly error: ApiError | undefined
  /**
   * Sends the change, and resolves with the response. Resolves with `undefined` if the change was
   * refused or got no response; `error` says why.
   */
  readonly send: <T>(method: Method, path: string, change?: Change) => Promise<T | undefined>
  /** Removes the error of the last change. */
  readonly reset: () => void
}

/** Sends changes to the operator API, and keeps the error of the last change. */
export function useChange(): Changing {
  const { api } = useSession()
  const [isRunning, setRunning] = useState(false)
  const [error, setError] = useState<ApiError>()
  const send = async <T>(method: Method, path: string, change?: Change): Promise<T | undefined> => {
    setRunning(true)
    setError(undefined)
    try {
      return await api.change<T>(method, path, change)
    } catch (refusal) {
      setError(toApiError(refusal))
      return undefined
    } finally {
      setRunning(false)
    }
  }
  return { isRunning, error, send, reset: () => setError(undefined) }
}
