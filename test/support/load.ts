import { setTimeout as pause } from 'node:timers/promises'

const usualMs = 1_000

/** Something that goes on beside a test, round after round. */
export interface Load {
  /** Resolves when the round that is under way is over; rejects with what a round has failed with. */
  stop(): Promise<void>
}

/**
 * The first round begins at once, the next one a second later unless something else is said; 0: when it is over. A round that takes longer is
 * not overtaken by the next.
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
