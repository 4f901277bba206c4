import { readFileSync } from 'node:fs'
import { hrtime } from 'node:process'

/* CPU time and memory of a process and its descendants, which Linux shows in /proc. */

/**
 * Unit of the CPU times in /proc, in ticks per second. It is 100 on every Linux that Node supports.
 */
const ticksPerSecond = 100

/**
 * User and system time of the process and its descendants, in seconds, with steps of 10 ms. @throws
 * when the process has ended
 */
export function cpuSeconds(pid: number): number {
  return family(pid).reduce((sum, each) => sum + ticksOf(each), 0) / ticksPerSecond
}

/**
 * Maximum resident memory so far, in MB: the sum of the maxima of the process and its descendants.
 * @throws when the process has ended
 */
export const peakMb = (pid: number): number => memory(pid, 'VmHWM')

/**
 * Resident memory of the process and its descendants now, in MB. @throws when the process has ended
 */
export const residentMb = (pid: number): number => memory(pid, 'VmRSS')

/**
 * Returns the time of the monotonic clock in microseconds. All processes and the CPU profiles use
 * this clock.
 */
export const micros = (): number => Number(hrtime.bigint() / 1_000n)

/** Returns the sum of a figure over several processes. */
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
  // The second field is the program's name in parentheses and may contain any character. `fields`
  // begins with the third field. User and system time are the 14th and 15th field of the line.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return Number(fields[11]) + Number(fields[12])
}

/**
 * Returns the ids of a process and its descendants. The command of a peer (`peer.ts`) may be a
 * script that starts the actual program.
 */
function family(pid: number): readonly number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
  return [pid, ...children.flatMap(family)]
}
