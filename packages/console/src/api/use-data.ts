import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { useSession } from '../session/session-context.ts'
import { type ApiError, toApiError } from './api-error.ts'

export interface Loaded<T> {
  /** The last answer. It stays when a later request fails. */
  readonly data: T | undefined
  /** Why the last request failed. */
  readonly error: ApiError | undefined
  /** Requests the data again now. */
  readonly reload: () => void
}

/**
 * Requests `path`, if any, and again `everyMs` milliseconds after each answer. The requests pause
 * while the tab is hidden, and while the user has no session.
 */
export function useData<T>(path: string | undefined, everyMs?: number): Loaded<T> {
  const { api, isPaused } = useSession()
  const [loaded, setLoaded] = useState<{ path: string; data?: T; error?: ApiError }>()
  const load = useRef<() => void>(() => undefined)
  useEffect(() => {
    if (path === undefined || isPaused) return
    const controller = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const run = async (): Promise<void> => {
      clearTimeout(timer)
      try {
        const data = await api.get<T>(path, controller.signal)
        setLoaded({ path, data })
      } catch (error) {
        if (controller.signal.aborted) return
        setLoaded(before => ({ ...(before?.path === path ? before : { path }), error: toApiError(error) }))
      }
      clearTimeout(timer)
      if (everyMs !== undefined && !controller.signal.aborted && !document.hidden) timer = setTimeout(run, everyMs)
    }
    const onVisibility = (): void => {
      clearTimeout(timer)
      if (everyMs !== undefined && !document.hidden) void run()
    }
    load.current = () => void run()
    document.addEventListener('visibilitychange', onVisibility)
    void run()
    return () => {
      controller.abort()
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', onVisibility)
    }
  }, [api, isPaused, path, everyMs])
  const reload = useCallback(() => load.current(), [])
  const current = loaded !== undefined && loaded.path === path ? loaded : undefined
  return { data: current?.data, error: current?.error, reload }
}
