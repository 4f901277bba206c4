import { setTimeout as pause } from 'node:timers/promises'

const usualMs = 1_000

export interface Load {
  /** Resolves when the current repetition ends. Rejects with the error of a failed repetition. */
  stop(): Promise<void>
}

/**
 * Repeats `round`. Each repetition starts `everyMs` after the previous start, but not before the
 * previous repetition ends.
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
