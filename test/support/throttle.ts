import { setTimeout as pause } from 'node:timers/promises'

export interface Throttle {
  /** Resolves when the process runs as it likes again. */
  stop(): Promise<void>
}

/**
 * The process runs for 0.4 s of each 1.2, as under a CPU limit that is too low for it: the kernel stops it in the middle of whatever it does
 * when its share is used up.
 */
export function startThrottle(pid: number): Throttle {
  let isOver = false
  async function run(): Promise<void> {
    while (!isOver) {
      process.kill(pid, 'SIGSTOP')
      try {
        await pause(800)
      } finally {
        process.kill(pid, 'SIGCONT')
      }
      await pause(400)
    }
  }
  const running = run()
  running.catch(() => undefined)
  return {
    stop() {
      isOver = true
      return running
    },
  }
}
