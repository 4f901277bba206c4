import { readFile } from 'node:fs/promises'

/**
 * The longest time for which the event loop was blocked since `from`, in ms of CPU time. `from` is
 * in ms since 1970. `event-loop-probe.ts` wrote the file.
 * @throws when the file does not exist, because the probe did not run
 */
export async function blockedSince(file: string, from: number): Promise<number> {
  const lines = (await readFile(file, 'utf8')).split('\n').filter(Boolean)
  const blocks = lines.map(line => line.split(' ').map(Number) as [at: number, cpuMs: number])
  return Math.max(0, ...blocks.filter(([at]) => at >= from).map(([, cpuMs]) => cpuMs))
}
