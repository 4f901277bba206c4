import type { ClientClock } from './clock.ts'
import type { Failure } from './failure.ts'

const quietMs = 60_000

/** What the client says by itself. */
export interface ClientLog {
  /** Only with `DEBUG=analytics` (B4.2). The text is made only then. */
  debug(line: () => string): void
  /** Messages that were not delivered and that nobody else hears of: once a minute for each kind. */
  failure(failure: Failure): void
  warn(line: string): void
}

/** `DEBUG=analytics`; other names may stand beside it, separated by commas or spaces. */
export const isDebugging = (debug: string | undefined): boolean =>
  (debug ?? '').split(/[\s,]+/).some(name => name === 'analytics' || name === '*')

export interface LogDeps {
  readonly write: (line: string) => void
  readonly clock: Pick<ClientClock, 'monotonic'>
  readonly debugging: boolean
}

export function createLog({ write, clock, debugging }: LogDeps): ClientLog {
  const kinds = new Map<string, { quietUntil: number; unsaid: number }>()
  const warn = (line: string): void => write(`hookline analytics: ${line}\n`)
  return {
    debug: line => {
      if (debugging) write(`analytics: ${line()}\n`)
    },
    warn,
    failure({ reason, code, detail, messageIds }) {
      const kind = `${reason} ${code}`
      const known = kinds.get(kind) ?? { quietUntil: Number.NEGATIVE_INFINITY, unsaid: 0 }
      // The endpoint chooses codes; it must not choose how much is remembered.
      if (kinds.size < 100 || kinds.has(kind)) kinds.set(kind, known)
      if (clock.monotonic() < known.quietUntil) {
        known.unsaid += messageIds.length
        return
      }
      const more = known.unsaid === 0 ? '' : ` ${known.unsaid} more before that, for the same reason.`
      warn(`${messageIds.length} not delivered, ${reason} (${code}). ${detail}${more} Listen with 'onFailure'.`)
      known.quietUntil = clock.monotonic() + quietMs
      known.unsaid = 0
    },
  }
}
