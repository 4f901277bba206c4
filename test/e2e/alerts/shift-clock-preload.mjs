// Changes the wall clock of one process. A service loads this file before its own program.
// Date.now() is then ahead of the machine's clock by the milliseconds in the file CLOCK_AHEAD_FILE.
// Timers and the monotonic clock do not change, as when an operator sets the clock of a machine.
import { readFileSync } from 'node:fs'
import process from 'node:process'

const { now } = Date
const lookEveryMs = 250

let ahead = look()
setInterval(() => {
  ahead = look()
}, lookEveryMs).unref()
Date.now = () => now() + ahead

/**
 * Returns the milliseconds in the file. Returns 0 if the file is missing, or if it is empty because
 * a test is writing it.
 */
function look() {
  try {
    return Number(readFileSync(process.env.CLOCK_AHEAD_FILE ?? '', 'utf8'))
  } catch {
    return 0
  }
}
