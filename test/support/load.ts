import { setTimeout as pause } from 'node:timers/promises'

const everyMs = 1_000

/** Something that goes on beside a test, a round a second. */
export interface Load {
  /** Resolves when the round that is under way is over; rejects with what a round has failed with. */
  stop(): Promise<void>
}

/** The first round begins at once. A round that takes longer than a second is not overtaken by the next. */
export function startLoad(round: () => Promise<unknown>): Load {
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
