import { setTimeout as pause } from 'node:timers/promises'

const usualMs = 1_000

/** Repeating background work of a test. */
export interface Load {
  /** Resolves when the current round ends; rejects with the error of a failed round. */
  stop(): Promise<void>
}

/**
 * Starts the first round immediately, and each next one `everyMs` after the start of the previous
 * one, or at its end if that is later.
 */
export function startLoad(round: () => Promise<unknown>, everyMs = usualMs): Load {
  const over = new AbortController()
  const { signal } = over
  async function run(): Promise<void> {
    while (!signal.aborted) await Promise.all([round(), pause(everyMs, undefined, { signal }).catch(() => undefined)])
  }
  const running = run()
  running.catch(() => undefined)
  return {
    stop() {
      over.abort()
      return running
    },
  }
}
