// Moves Date.now() ahead by the milliseconds in the file CLOCK_AHEAD_FILE, but not timers and the
// monotonic clock.
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
 * Returns the milliseconds in the file; 0 if the file is missing, or empty while a test writes it.
 */
function look() {
  try {
    return Number(readFileSync(process.env.CLOCK_AHEAD_FILE ?? '', 'utf8'))
  } catch {
    return 0
  }
}
