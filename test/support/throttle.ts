import { setTimeout as pause } from 'node:timers/promises'
import { type Load, startLoad } from './load.ts'

/**
 * The process runs for 0.4 s of each 1.2, as under a CPU limit that is too low for it: the kernel stops it in the middle of whatever it does
 * when its share is used up.
 */
export function startThrottle(pid: number): Load {
  return startLoad(async () => {
    process.kill(pid, 'SIGSTOP')
    try {
      await pause(800)
    } finally {
      process.kill(pid, 'SIGCONT')
    }
    await pause(400)
  }, 0)
}
