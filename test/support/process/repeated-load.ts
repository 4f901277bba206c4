import { setTimeout as pause } from 'node:timers/promises'

const usualMs = 1_000

/** Background work that a test repeats. */
export interface Load {
  /** Resolves when the current repetition ends. Rejects with the error of a failed repetition. */
  stop(): Promise<void>
}

/**
 * Starts the first repetition immediately. Each further repetition starts `everyMs` after the start
 * of the previous one. If the previous one takes longer, the next one starts when it ends.
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
