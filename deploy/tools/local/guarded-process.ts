import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'

/** Time in ms from SIGTERM to SIGKILL. A broker without a quorum stops only after SIGKILL. */
const usualPatienceMs = 5_000

export interface GuardedProcess {
  readonly pid: number
  /** Resolves with `exit code 1` or `signal SIGKILL` when the process ends. */
  readonly ended: Promise<string>
  /**
   * Sends SIGTERM, and SIGKILL if the process still runs after `patienceMs` (default: 5 s).
   * Resolves when the process has ended.
   */
  stop(patienceMs?: number): Promise<void>
  /** Sends SIGKILL. Resolves when the process has ended. */
  kill(): Promise<void>
}

export interface ProcessOptions {
  readonly command: string
  readonly args: readonly string[]
  readonly cwd?: string
  readonly env?: NodeJS.ProcessEnv
  /** A file; stdout and stderr of this process (`shared`); or only stderr of this process. */
  readonly output: { readonly file: string } | 'shared' | 'stderr'
  /** Deleted when this process is killed before it can clean up. */
  readonly throwAwayDir?: string
}

/**
 * Starts a child in its own process group, which ctrl-C does not reach. If this process dies, a
 * guard (`endWithUs`) stops the child.
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
  // The child must not keep this process alive.
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

/**
 * Starts a shell script that stops the child `pid` if this process dies. `ended` must settle when
 * the child has ended.
 */
export function endWithUs(pid: number, ended: Promise<unknown>, throwAwayDir = ''): void {
  if (pid === 0) return
  const guard = startGuard(pid, throwAwayDir)
  // Kill the guard before the operating system can reuse the process id of the child.
  void ended.then(() => guard.kill('SIGKILL'))
}

/** The last lines of a log, for the error of a failed start. */
export async function tailOf(logFile: string, lines = 30): Promise<string> {
  const text = await readFile(logFile, 'utf8').catch(() => '')
  return text.trimEnd().split('\n').slice(-lines).join('\n')
}

/**
 * Resolves when the process is ready, which is checked every `everyMs`.
 * @throws Error when the process ends before that, or is not ready within `patienceMs`
 */
export async function untilReady(
  { ended }: Pick<GuardedProcess, 'ended'>,
  isReady: () => Promise<boolean>,
  { everyMs, patienceMs }: { readonly everyMs: number; readonly patienceMs: number },
): Promise<void> {
  let end: string | undefined
  void ended.then(how => {
    end = how
  })
  const deadline = performance.now() + patienceMs
  while (end === undefined) {
    if (await isReady()) return
    if (performance.now() > deadline) throw new Error(`it was not ready within ${patienceMs / 1_000} s`)
    await delay(everyMs)
  }
  throw new Error(`it ended with ${end}`)
}

/** How a process ended: `exit code 1` or `signal SIGKILL`. */
export const howEnded = (code: number | null, signal: string | null): string =>
  signal === null ? `exit code ${code}` : `signal ${signal}`

async function endOf(child: ChildProcess): Promise<string> {
  try {
    const [code, signal] = await once(child, 'exit')
    return howEnded(code, signal)
  } catch (error) {
    return (error as Error).message
  }
}

/** Arguments: the process id of the child, and a directory to delete. */
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
