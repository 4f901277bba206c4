// A service loads this file before its own program. Date.now() is ahead of the machine's clock by
// the milliseconds in the file CLOCK_AHEAD_FILE. As when the clock of a machine is set, timers and
// the monotonic clock do not change.
import { readFileSync } from 'node:fs'
import process from 'node:process'

const { now } = Date
const lookEveryMs = 250

let ahead = look()
setInterval(() => {
  ahead = look()
}, lookEveryMs).unref()
Date.now = () => now() + ahead

/** The milliseconds in the file; 0 when the file is missing, or empty while a test writes it. */
function look() {
  try {
    return Number(readFileSync(process.env.CLOCK_AHEAD_FILE ?? '', 'utf8'))
  } catch {
    return 0
  }
}
