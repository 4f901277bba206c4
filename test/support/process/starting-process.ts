import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'

const program = new URL('../../../bin/hookline.js', import.meta.url).pathname

export interface StartingProcess {
  readonly child: ChildProcess
  readonly exited: Promise<number | null>
  readonly ready: Promise<void>
  /** Resolves when a log line has these words. @throws when the log ends without this line */
  logs(words: string): Promise<void>
}

/** Starts `hookline run` with these arguments. `own` is added to its environment. */
export function spawnRun(words: readonly string[], own: NodeJS.ProcessEnv = {}): StartingProcess {
  const child = spawn(process.execPath, [program, 'run', ...words], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...own },
  })
  const log = createInterface({ input: child.stderr })
  const lines: string[] = []
  log.on('line', line => lines.push(line))
  const ready = says(child.stdout, 'hookline ready')
  ready.catch(() => undefined)
  return {
    child,
    exited: once(child, 'exit').then(([code]) => code as number | null),
    ready,
    logs: words =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (lines.some(line => line.includes(words))) resolve()
        }
        log.on('line', look)
        log.on('close', () => reject(new Error(`ended without logging "${words}": ${lines.join('\n')}`)))
        look()
      }),
  }
}

async function says(stream: Readable, words: string): Promise<void> {
  for await (const line of createInterface({ input: stream })) if (line.includes(words)) return
  throw new Error(`ended without saying "${words}"`)
}
