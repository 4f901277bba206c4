import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { open } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'

const program = new URL('../../bin/hookline.js', import.meta.url).pathname

/** Runs one `hookline` command to its end and returns what it printed. @throws when it fails. */
export async function hookline(config: string, ...words: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, [program, ...words, '--config', config], { stdio: ['ignore', 'pipe', 'pipe'] })
  let printed = ''
  let complaints = ''
  child.stdout.on('data', (text: Buffer) => (printed += text))
  child.stderr.on('data', (text: Buffer) => (complaints += text))
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`hookline ${words.join(' ')} ended with ${code}\n${complaints}`)
  return printed
}

export interface RunningService {
  /** What it printed when it was ready. */
  readonly ready: string
  /** `hookline_…{labels}` → value, as of now. */
  metrics(): Promise<ReadonlyMap<string, number>>
  /** SIGTERM; resolves with its exit code. */
  stop(): Promise<number | null>
}

/** `hookline run` as its own process; its log goes to a file. */
export async function startService(config: string, logFile: string): Promise<RunningService> {
  const log = await open(logFile, 'w')
  const child = spawn(process.execPath, [program, 'run', '--config', config], { stdio: ['ignore', 'pipe', log.fd] })
  const exited = once(child, 'exit').then(([code]) => code as number | null)
  const ready = await Promise.race([
    once(createInterface({ input: child.stdout as Readable }), 'line').then(([line]) => line as string),
    exited.then(code => {
      throw new Error(`hookline run ended with ${code} before it was ready; its log is ${logFile}`)
    }),
  ])
  const ops = /\bops=(\S+)/.exec(ready)?.[1]
  return {
    ready,
    metrics: async () => parseMetrics(await (await fetch(`${ops}/metrics`)).text()),
    stop: async () => {
      child.kill('SIGTERM')
      const code = await exited
      await log.close()
      return code
    },
  }
}

function parseMetrics(text: string): ReadonlyMap<string, number> {
  const samples = text.split('\n').filter(line => line !== '' && !line.startsWith('#'))
  return new Map(
    samples.map(line => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]),
  )
}
