import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { readFile } from 'node:fs/promises'

/** A broker takes 0.4 s to stop; one that has lost its quorum never stops by itself. */
const usualPatienceMs = 5_000

export interface GuardedProcess {
  readonly pid: number
  /** Resolves with `exit code 1` or `signal SIGKILL` once it has ended, whoever ended it. */
  readonly ended: Promise<string>
  /** SIGTERM, and SIGKILL when that did not end it within `patienceMs` (five seconds); resolves when it is gone. */
  stop(patienceMs?: number): Promise<void>
  /** SIGKILL, as a crash; resolves when it is gone. */
  kill(): Promise<void>
}

export interface ProcessOptions {
  readonly command: string
  readonly args: readonly string[]
  readonly cwd?: string
  readonly env?: NodeJS.ProcessEnv
  /** What it prints: into a file, onto our own streams, or all onto our stderr. */
  readonly output: { readonly file: string } | 'shared' | 'stderr'
  /** Removed when this process is killed before it could clean up. */
  readonly throwAwayDir?: string
}

/**
 * Starts a process in a group of its own, so that a ctrl-C or a test runner that kills its group leaves the order of stopping to us.
 * A guard, a few lines of shell that wait for our end of a pipe to close, ends the process when we die in whatever way.
 */
export function startGuarded(options: ProcessOptions): GuardedProcess {
  const log = typeof options.output === 'object' ? openSync(options.output.file, 'w') : undefined
  const child = spawn(options.command, options.args, {
    cwd: options.cwd,
    env: options.env,
    detached: true,
    stdio: ['ignore', log ?? (options.output === 'stderr' ? 2 : 1), log ?? 2],
  })
  if (log !== undefined) closeSync(log)
  // It must not keep us alive: who waits for it to stop says so.
  child.unref()
  const ended = endOf(child)
  const pid = child.pid ?? 0
  endWithUs(pid, ended, options.throwAwayDir)
  return {
    pid,
    ended,
    async stop(patienceMs = usualPatienceMs) {
      child.ref()
      child.kill('SIGTERM')
      const force = setTimeout(() => child.kill('SIGKILL'), patienceMs)
      await ended
      clearTimeout(force)
    },
    async kill() {
      child.ref()
      child.kill('SIGKILL')
      await ended
    },
  }
}

/** Has a process of ours ended when we die in whatever way. `ended` settles when it has ended by itself; a `pid` of 0 never ran. */
export function endWithUs(pid: number, ended: Promise<unknown>, throwAwayDir = ''): void {
  if (pid === 0) return
  const guard = startGuard(pid, throwAwayDir)
  // The guard must be gone before the id of what it guards can belong to another process.
  void ended.then(() => guard.kill('SIGKILL'))
}

/** The last lines of a log, for the error of a process that did not come up. */
export async function tailOf(logFile: string, lines = 30): Promise<string> {
  const text = await readFile(logFile, 'utf8').catch(() => '')
  return text.trimEnd().split('\n').slice(-lines).join('\n')
}

async function endOf(child: ChildProcess): Promise<string> {
  try {
    const [code, signal] = await once(child, 'exit')
    return signal === null ? `exit code ${code}` : `signal ${signal}`
  } catch (error) {
    return (error as Error).message
  }
}

/** Its arguments: what it guards, and what to remove then. */
const guardScript = `
cat >/dev/null
kill -TERM "$1" 2>/dev/null
left=50
while [ "$left" -gt 0 ] && kill -0 "$1" 2>/dev/null; do sleep 0.1; left=$((left - 1)); done
kill -KILL "$1" 2>/dev/null
[ -n "$2" ] && rm -rf -- "$2"
`

function startGuard(pid: number, throwAwayDir: string): ChildProcess {
  const guard = spawn('/bin/sh', ['-c', guardScript, 'guard', String(pid), throwAwayDir], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  guard.unref()
  const pipe = guard.stdin as unknown as { unref(): void; on(event: 'error', listener: () => void): void }
  pipe.on('error', () => {})
  pipe.unref()
  return guard
}
