/** One thing that is checked, and what was seen. */
export interface Check {
  readonly name: string
  readonly ok: boolean
  readonly detail: string
}

/** `live`: a restart would help where one fails. `ready`: not to be counted on (rolled on to, scaled by) where one fails. */
export interface Health {
  readonly live: readonly Check[]
  readonly ready: readonly Check[]
}

export interface DispatcherVitals {
  readonly phase: 'joining' | 'joined' | 'stopping'
  /** Milliseconds since the consumer heard least of the broker last heard of it. */
  readonly silenceMs: number
  /** Milliseconds since the record that has been open longest was taken up; 0 when none is. */
  readonly oldestOpenMs: number
  readonly unwritableTopics: readonly string[]
}

/** A consumer hears of the broker every 0.5 s, or fails to; this long without either, its loop is stuck. */
const silenceLimitMs = 60_000
/** Far beyond any attempt (5 s) and any wait in memory (10 s): what is open so long is lost track of. */
const openRecordLimitMs = 15 * 60_000

export function dispatcherHealth({ phase, silenceMs, oldestOpenMs, unwritableTopics }: DispatcherVitals): Health {
  const isWritable = unwritableTopics.length === 0
  return {
    live: [
      {
        name: 'consumers',
        ok: silenceMs < silenceLimitMs,
        detail: `heard of the broker ${Math.round(silenceMs)} ms ago`,
      },
      // Records wait for an unwritable topic as they should: a restart would not help them.
      {
        name: 'progress',
        ok: oldestOpenMs < openRecordLimitMs || !isWritable,
        detail: `oldest open record ${Math.round(oldestOpenMs)} ms`,
      },
    ],
    ready: [
      { name: 'groups', ok: phase === 'joined', detail: phase },
      {
        name: 'topics',
        ok: isWritable,
        detail: isWritable
          ? 'writable'
          : `not taking records: ${unwritableTopics.join(', ')}; their source offsets wait`,
      },
    ],
  }
}
