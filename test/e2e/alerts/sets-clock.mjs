// Loaded by a service before its own program. Its time of day is as many milliseconds ahead of the machine's as a file says; timers and the
// monotonic clock go on evenly, as when the clock of a real machine is set.
import { readFileSync } from 'node:fs'
import process from 'node:process'

const { now } = Date
const lookEveryMs = 250

let ahead = look()
setInterval(() => {
  ahead = look()
}, lookEveryMs).unref()
Date.now = () => now() + ahead

/** While it is being written it is empty, which is no time ahead; without it there is none either. */
function look() {
  try {
    return Number(readFileSync(process.env.CLOCK_AHEAD_FILE ?? '', 'utf8'))
  } catch {
    return 0
  }
}
