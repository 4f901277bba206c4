import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { endWithUs, howEnded, tailOf } from './guarded-process.ts'
import { mallocSettings, nodeFlags } from './node-flags.ts'

const program = new URL('../../../bin/hookline.js', import.meta.url).pathname

/** Runs a `hookline` command and returns its stdout. @throws Error when the command fails */
export async function hookline(config: string, words: readonly string[], env = process.env): Promise<string> {
  const child = spawn(process.execPath, [program, ...words, '--config', config], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let printed = ''
  let complaints = ''
  child.stdout.on('data', (text: Buffer) => (printed += text))
  child.stderr.on('data', (text: Buffer) => (complaints += text))
  const [code, signal] = await once(child, 'close')
  if (code !== 0) throw new Error(`hookline ${words.join(' ')} ended with ${howEnded(code, signal)}\n${complaints}`)
  return printed
}

export interface RunningService {
  readonly pid: number
  /** The line that the process printed when it was ready. */
  readonly ready: string
  /** URL of the tracking API. `undefined` without a collector. */
  readonly collector: string | undefined
  /** `undefined` when the operator API does not listen. */
  readonly operator: string | undefined
  /** The current metrics: `hookline_…{labels}` → value. */
  metrics(): Promise<ReadonlyMap<string, number>>
  /** Requests a path of the ops server. */
  ask(path: string): Promise<{ readonly status: number; readonly text: string }>
  /** Resolves with the exit code, or `null` after a signal. */
  readonly exited: Promise<number | null>
  /** Sends SIGTERM. Resolves with the exit code. */
  stop(): Promise<number | null>
  kill(): Promise<void>
}

/**
 * Starts `hookline run` with these arguments as a child process.
 * @throws Error with the end of the log when the process ends before it is ready
 */
export async function startService(
  config: string,
  logFile: string,
  env = process.env,
  words: readonly string[] = [],
): Promise<RunningService> {
  const log = openSync(logFile, 'a')
  const child = spawn(process.execPath, [...nodeFlags, program, 'run', '--config', config, ...words], {
    env: { ...mallocSettings, ...env },
    stdio: ['ignore', 'pipe', log],
  })
  closeSync(log)
  const exited = once(child, 'exit').then(([code]) => code as number | null)
  endWithUs(child.pid ?? 0, exited)
  const ready = await Promise.race([
    once(createInterface({ input: child.stdout as Readable }), 'line').then(([line]) => line as string),
    exited.then(async code => {
      const [how, lines] = [howEnded(code, child.signalCode), await tailOf(logFile)]
      throw new Error(`hookline run ended with ${how} before it was ready; its log:\n${lines}`)
    }),
  ])
  const placeOf = (name: string): string | undefined => new RegExp(`\\b${name}=(\\S+)`).exec(ready)?.[1]
  const ops = placeOf('ops')
  const ask: RunningService['ask'] = async path => {
    const response = await fetch(ops + path)
    return { status: response.status, text: await response.text() }
  }
  const end = (signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null> => {
    child.kill(signal)
    return exited
  }
  return {
    // The child has printed a line, so it has a process id.
    pid: child.pid as number,
    exited,
    ready,
    collector: placeOf('collector'),
    operator: placeOf('operator'),
    ask,
    metrics: async () => parseMetrics((await ask('/metrics')).text),
    stop: () => end('SIGTERM'),
    kill: async () => void (await end('SIGKILL')),
  }
}

/** Parses the Prometheus text format: `hookline_…{labels}` → value. */
export function parseMetrics(text: string): ReadonlyMap<string, number> {
  const samples = text.split('\n').filter(line => line !== '' && !line.startsWith('#'))
  return new Map(
    samples.map(line => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]),
  )
}
