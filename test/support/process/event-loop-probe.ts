/*
 * Measures for how long the event loop of a process is blocked. Load this file with `--import`. It
 * measures the CPU time of the main thread between two ticks of a timer, so the load of other
 * processes does not count. Each blockage of 25 ms or more becomes a line in the file
 * LOOP_PROBE_FILE: milliseconds since 1970, milliseconds of CPU time. The first line has 0 ms. It
 * shows that the probe was loaded.
 */
import { appendFileSync } from 'node:fs'

const file = process.env['LOOP_PROBE_FILE']
const tickMs = 5
const shownMs = 25

if (file !== undefined) {
  appendFileSync(file, `${Date.now()} 0\n`)
  let before = process.threadCpuUsage()
  const look = (): void => {
    const { user, system } = process.threadCpuUsage(before)
    const cpuMs = (user + system) / 1_000
    if (cpuMs >= shownMs) appendFileSync(file, `${Date.now()} ${cpuMs.toFixed(1)}\n`)
    before = process.threadCpuUsage()
  }
  setInterval(look, tickMs).unref()
}
