import { readFile } from 'node:fs/promises'

/** Longest times for which an event loop was blocked. */
export interface Blocked {
  readonly cpuMs: number
  readonly wallMs: number
}

/** Limits for a hostile request. */
export const longestBlock: Blocked = { cpuMs: 250, wallMs: 1_000 }

/**
 * The longest blockages since `from` (ms since 1970). @throws when the file does not exist, because
 * the probe did not run
 */
export async function blockedSince(file: string, from: number): Promise<Blocked> {
  const lines = (await readFile(file, 'utf8')).split('\n').filter(Boolean)
  const blocks = lines
    .map(line => line.split(' ').map(Number) as [at: number, cpuMs: number, wallMs: number])
    .filter(([at]) => at >= from)
  return {
    cpuMs: Math.max(0, ...blocks.map(([, cpuMs]) => cpuMs)),
    wallMs: Math.max(0, ...blocks.map(([, , wallMs]) => wallMs)),
  }
}
