import { setTimeout as pause } from 'node:timers/promises'
import { type Load, startLoad } from './repeated-load.ts'

/** Lets a process run for 0.4 s of every 1.2 s, as a low CPU limit does. */
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
