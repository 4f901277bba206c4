/*
 * Load this file with `--import`. It writes a line to LOOP_PROBE_FILE for each long blockage of the
 * event loop:
 * - time in ms since 1970
 * - CPU time of the main thread in ms
 * - wall time in ms, without the wait for a core
 * The first line has 0 ms: it shows that the probe was loaded.
 */
import { appendFileSync, readFileSync } from 'node:fs'

const file = process.env['LOOP_PROBE_FILE']
const tickMs = 5
const shownMs = { cpu: 25, wall: 250 }

/** How long the main thread has waited for a core, in ms. 0 on systems other than Linux. */
function waitedForCore(): number {
  try {
    return Number(readFileSync('/proc/self/schedstat', 'latin1').split(' ')[1]) / 1e6
  } catch {
    return 0
  }
}

if (file !== undefined) {
  appendFileSync(file, `${Date.now()} 0 0\n`)
  let before = process.threadCpuUsage()
  let startedAt = performance.now() - waitedForCore()
  const look = (): void => {
    const { user, system } = process.threadCpuUsage(before)
    const cpuMs = (user + system) / 1_000
    const wallMs = performance.now() - waitedForCore() - startedAt
    if (cpuMs >= shownMs.cpu || wallMs >= shownMs.wall)
      appendFileSync(file, `${Date.now()} ${cpuMs.toFixed(1)} ${wallMs.toFixed(1)}\n`)
    before = process.threadCpuUsage()
    startedAt = performance.now() - waitedForCore()
  }
  setInterval(look, tickMs).unref()
}
