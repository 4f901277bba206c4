import process from 'node:process'
import type { ClientClock } from './clock.ts'
import type { Failure } from './failure.ts'

const quietMs = 60_000

/** The log of the client, on stderr. */
export interface ClientLog {
  /** Calls `line` and writes its text only if DEBUG contains `analytics`. */
  debug(line: () => string): void
  /**
   * Warns of undelivered messages: at most once per minute for each of the first 100 combinations
   * of reason and code. For further combinations, each failure is logged.
   */
  failure(failure: Failure): void
  warn(line: string): void
}

/** Whether DEBUG contains `analytics` or `*`. Commas or spaces separate its names. */
export const isDebugging = (debug: string | undefined): boolean =>
  (debug ?? '').split(/[\s,]+/).some(name => name === 'analytics' || name === '*')

export const messageCount = (count: number): string => `${count} message${count === 1 ? '' : 's'}`

export interface LogDeps {
  readonly write: (line: string) => void
  readonly clock: Pick<ClientClock, 'monotonic'>
  readonly debugging: boolean
}

/**
 * Writes to stderr, and ignores errors, as `console.error` does. Otherwise, a closed pipe would end
 * the program.
 */
export function writeToStderr(line: string): void {
  const { stderr } = process
  const ignore = (): void => {}
  try {
    stderr.write(line, error => {
      // Node emits `error` after it calls this callback, so a listener can still be added.
      if (error && stderr.listenerCount('error') === 0) stderr.once('error', ignore)
    })
  } catch {
    // If stderr is a file, `write` can throw an error instead of passing it to the callback.
  }
}

export function createLog({ write, clock, debugging }: LogDeps): ClientLog {
  const kinds = new Map<string, { quietUntil: number; suppressed: number }>()
  const warn = (line: string): void => write(`hookline analytics: ${line}\n`)
  return {
    debug: line => {
      if (debugging) write(`analytics: ${line()}\n`)
    },
    warn,
    failure({ reason, code, detail, messageIds }) {
      const kind = `${reason} ${code}`
      const known = kinds.get(kind) ?? { quietUntil: Number.NEGATIVE_INFINITY, suppressed: 0 }
      // Remember at most 100 kinds: a server that always sends new codes could otherwise fill the
      // memory of the process.
      if (kinds.size < 100 || kinds.has(kind)) kinds.set(kind, known)
      if (clock.monotonic() < known.quietUntil) {
        known.suppressed += messageIds.length
        return
      }
      const more =
        known.suppressed === 0
          ? ''
          : ` Earlier failures with the same cause that were not logged: ${messageCount(known.suppressed)}.`
      warn(
        `${messageCount(messageIds.length)} not delivered: ${reason} (${code}). ${detail}${more} Set 'onFailure' to handle these messages.`,
      )
      known.quietUntil = clock.monotonic() + quietMs
      known.suppressed = 0
    },
  }
}
