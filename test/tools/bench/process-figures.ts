import { readFileSync } from 'node:fs'
import { hrtime } from 'node:process'

/* What Linux says about a process and those that it has started. */

/** `sysconf(_SC_CLK_TCK)`: 100 on every Linux that Node runs on. */
const ticksPerSecond = 100

/** User and system time of the process and its children so far, in seconds, in steps of 10 ms. @throws when it has ended */
export function cpuSeconds(pid: number): number {
  return family(pid).reduce((sum, each) => sum + ticksOf(each), 0) / ticksPerSecond
}

/** The most memory that it had resident so far, in MB. @throws when it has ended */
export const peakMb = (pid: number): number => memory(pid, 'VmHWM')

/** What it has resident now, in MB. @throws when it has ended */
export const residentMb = (pid: number): number => memory(pid, 'VmRSS')

/** The monotonic clock, in microseconds: the same for all processes, and what CPU profiles are written with. */
export const micros = (): number => Number(hrtime.bigint() / 1_000n)

/** A figure of several processes: the sum of theirs. */
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
  // The second field is the program's name in parentheses, which may hold anything; user and system time are the 14th and 15th.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return Number(fields[11]) + Number(fields[12])
}

/** The process and all below it: a peer may be a script that starts the real one. */
function family(pid: number): readonly number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
  return [pid, ...children.flatMap(family)]
}
