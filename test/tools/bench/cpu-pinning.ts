import { execFileSync } from 'node:child_process'

export interface Pinning {
  /** Core of the measured program (the forwarder). Undefined if the kernel chooses it. */
  readonly forwarder: number | undefined
  /** For the report: the core of each process, or why no process is pinned. */
  readonly note: string
}

export const unpinned = (why: string): Pinning => ({
  forwarder: undefined,
  note: `processes are not pinned to cores: ${why}`,
})

/** `0-2,5` → 0, 1, 2, 5 */
export function coresOf(list: string): readonly number[] {
  return list
    .trim()
    .split(',')
    .flatMap(part => {
      const [first = Number.NaN, last = first] = part.split('-').map(Number)
      return Array.from({ length: last - first + 1 }, (_, index) => first + index)
    })
}

/**
 * Pins this process, and its later children, to the first permitted core. Reserves the last
 * permitted core for the forwarder.
 */
export function pinSelf(): Pinning {
  try {
    const printed = execFileSync('taskset', ['-cp', String(process.pid)], { encoding: 'utf8' })
    const cores = coresOf(printed.slice(printed.lastIndexOf(':') + 1))
    const [support, forwarder] = [cores[0], cores.at(-1)]
    if (support === undefined || support === forwarder) return unpinned('there is only one core')
    execFileSync('taskset', ['-acp', String(support), String(process.pid)])
    return { forwarder, note: `forwarder on core ${forwarder}; broker, receiver and producer on core ${support}` }
  } catch (error) {
    return unpinned(
      (error as NodeJS.ErrnoException).code === 'ENOENT'
        ? 'the program taskset is not installed'
        : (error as Error).message,
    )
  }
}

/** Returns a command that runs `command` on `core`, or on any core if `core` is undefined. */
export function pinned(
  core: number | undefined,
  command: string,
  args: readonly string[],
): { readonly command: string; readonly args: readonly string[] } {
  return core === undefined ? { command, args } : { command: 'taskset', args: ['-c', String(core), command, ...args] }
}
