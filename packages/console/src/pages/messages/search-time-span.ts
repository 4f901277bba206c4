import { pathWith } from '../../api/query-parameters.ts'

/**
 * The time span in which the message was received. The search reads no record before `since`. It
 * also reads records after `until`, because attempts and dead letters may be later than `until`.
 */
export interface MessageSpan {
  /** An ISO 8601 time, or a duration before now, for example `72h`. */
  readonly since?: string
  readonly until?: string
}

/**
 * The values of `since` that the search form offers. Without `since`, the operator service searches
 * the last 24 hours.
 */
export const spans = [
  ['', 'Last 24 hours'],
  ['72h', 'Last 3 days'],
  ['168h', 'Last 7 days'],
  ['720h', 'Last 30 days'],
] as const

export function spanOf(query: string): MessageSpan {
  const given = new URLSearchParams(query)
  const [since, until] = [given.get('since'), given.get('until')]
  return { ...(since === null ? {} : { since }), ...(until === null ? {} : { until }) }
}

/** The address of the timeline of a message. */
export const messageAddress = (id: string, span: MessageSpan = {}): string =>
  pathWith(`/messages/${encodeURIComponent(id)}`, { ...span })

const minuteMs = 60_000
/**
 * The search for the message of an attempt or a dead letter begins this number of milliseconds
 * before the attempt or the dead letter. The number is the sum of the longest retry window, 4 h,
 * and one hour for the wait before the first attempt. The event can be older if its destination was
 * paused, or after a replay or a resend. The search then does not find the event.
 */
const beforeMs = 5 * 60 * minuteMs

/**
 * The time span in which a message was received, if it had an attempt or a dead letter at the time
 * `at` (ISO 8601).
 */
export const spanBefore = (at: string): MessageSpan => ({
  since: new Date(Date.parse(at) - beforeMs).toISOString(),
  until: new Date(Date.parse(at) + minuteMs).toISOString(),
})
