import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'

/** The module that records the blockages. Load it with `--import`. */
export const probe = new URL('event-loop-probe.ts', import.meta.url).href

/** Longest times for which an event loop was blocked. */
export interface Blocked {
  readonly cpuMs: number
  readonly wallMs: number
}

/** Limits for a hostile request. */
export const longestBlock: Blocked = { cpuMs: 250, wallMs: 1_000 }

/**
 * Starts a process that does nothing. Only a stop of the whole machine blocks its event loop, which
 * it records in `file`.
 */
export function startIdleProcess(file: string): { close(): Promise<void> } {
  const child = spawn(process.execPath, ['--import', probe, '--eval', 'setInterval(() => {}, 1_000)'], {
    env: { ...process.env, LOOP_PROBE_FILE: file },
    stdio: 'ignore',
  })
  const exited = once(child, 'exit')
  return {
    async close() {
      child.kill('SIGKILL')
      await exited
    },
  }
}

/**
 * The longest blockages since `from` (ms since 1970), without the times for which the machine was
 * stopped, according to the file of an idle process. @throws when a file does not exist, because
 * the probe did not run
 */
export async function blockedSince(file: string, from: number, idleFile?: string): Promise<Blocked> {
  const stops = idleFile === undefined ? [] : await blocksIn(idleFile)
  const blocks = (await blocksIn(file)).filter(({ at }) => at >= from)
  return {
    cpuMs: Math.max(0, ...blocks.map(({ cpuMs }) => cpuMs)),
    wallMs: Math.max(
      0,
      ...blocks.map(block => block.wallMs - stops.reduce((sum, stop) => sum + overlapMs(block, stop), 0)),
    ),
  }
}

interface Block extends Blocked {
  /** The end, in ms since 1970. */
  readonly at: number
}

async function blocksIn(file: string): Promise<readonly Block[]> {
  const lines = (await readFile(file, 'utf8')).split('\n').filter(Boolean)
  return lines.map(line => {
    const [at, cpuMs, wallMs] = line.split(' ').map(Number) as [at: number, cpuMs: number, wallMs: number]
    return { at, cpuMs, wallMs }
  })
}

const overlapMs = (one: Block, other: Block): number =>
  Math.max(0, Math.min(one.at, other.at) - Math.max(one.at - one.wallMs, other.at - other.wallMs))
