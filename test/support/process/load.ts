import { setTimeout as pause } from 'node:timers/promises'

const usualMs = 1_000

/** Work that repeats in the background of a test. */
export interface Load {
  /** Resolves when the current round ends; rejects with the error of a failed round. */
  stop(): Promise<void>
}

/**
 * Starts the first round immediately and each next one `everyMs` after the one before, or when that
 * one ends if it takes longer.
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

/**
 * Lets a process run for 0.4 s of each 1.2 s, as under a CPU limit that is too low: the kernel stops it
 * at any point when its share is used up.
 */
export const startThrottle = (pid: number): Load =>
  startLoad(async () => {
    process.kill(pid, 'SIGSTOP')
    try {
      await pause(800)
    } finally {
      process.kill(pid, 'SIGCONT')
    }
    await pause(400)
  }, 0)
