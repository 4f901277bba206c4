import type { Judgement } from './finding.ts'

/** The clock of the leader that took a record, beside ours before it was sent and after it was acknowledged; in milliseconds. */
export interface ClockReading {
  readonly before: number
  readonly after: number
  /** Undefined: the topic keeps the time of the producer instead. */
  readonly appended: number | undefined
}

/** Services and commands use the brokers' time; until a broker has given it they use the machine's. */
const warnBeyondMs = 1_000
const failBeyondMs = 60_000

export function judgeClock({ before, after, appended }: ClockReading): Judgement {
  if (appended === undefined)
    return { level: 'warn', detail: 'the broker does not tell its time', remedy: 'see: hookline topics check' }
  // It was appended at any time in between: what is within is no difference.
  const skewMs = appended < before ? appended - before : Math.max(0, appended - after)
  const size = Math.abs(skewMs)
  const detail =
    size === 0 ? "the same as the broker's" : `${secondsOf(size)} ${skewMs > 0 ? 'behind' : 'ahead of'} the broker's`
  if (size < warnBeyondMs) return { level: 'ok', detail }
  const remedy = "processes go by the brokers' time: check NTP on this machine and on the brokers"
  return { level: size < failBeyondMs ? 'warn' : 'fail', detail, remedy }
}

const secondsOf = (ms: number): string => `${(ms / 1000).toFixed(ms < 10_000 ? 3 : 0)} s`
