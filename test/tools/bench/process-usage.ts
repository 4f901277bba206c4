import { readFileSync } from 'node:fs'
import { hrtime } from 'node:process'

/* CPU time and memory of a process and its descendants, from /proc of Linux. */

/** Unit of the CPU times in /proc. It is 100 on every Linux that Node supports. */
const ticksPerSecond = 100

/** User and system time, in seconds, in steps of 10 ms. @throws when the process has ended */
export function cpuSeconds(pid: number): number {
  return family(pid).reduce((sum, each) => sum + ticksOf(each), 0) / ticksPerSecond
}

/** Sum of the maxima of resident memory, in MB. @throws when the process has ended */
export const peakMb = (pid: number): number => memory(pid, 'VmHWM')

/** Resident memory now, in MB. @throws when the process has ended */
export const residentMb = (pid: number): number => memory(pid, 'VmRSS')

/** Monotonic time in µs, the same for all processes and for CPU profiles. */
export const micros = (): number => Number(hrtime.bigint() / 1_000n)

export const together = (pids: readonly number[], figure: (pid: number) => number): number =>
  pids.reduce((sum, pid) => sum + figure(pid), 0)

function memory(pid: number, field: 'VmHWM' | 'VmRSS'): number {
  return family(pid).reduce((sum, each) => {
    const kibibytes = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(
      readFileSync(`/proc/${each}/status`, 'utf8'),
    )?.[1]
    return sum + (Number(kibibytes ?? 0) * 1_024) / 1e6
  }, 0)
}

function ticksOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // `fields` begins with field 3, because field 2 (the name) may contain any character. Fields 14
  // and 15 are CPU times.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return Number(fields[11]) + Number(fields[12])
}

/** The process and its descendants: a peer (`peer.ts`) may be a script that starts the program. */
function family(pid: number): readonly number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
  return [pid, ...children.flatMap(family)]
}
