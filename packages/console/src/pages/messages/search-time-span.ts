import { pathWith } from '../../api/query-parameters.ts'

/**
 * The time span in which the message was received. The search also reads records after `until`,
 * because attempts and dead letters follow the message.
 */
export interface MessageSpan {
  /** An ISO 8601 time, or a duration before now, for example `72h`. */
  readonly since?: string
  readonly until?: string
}

/**
 * The values of `since` that the form offers. Without `since`, the operator service searches the
 * last 24 hours.
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

export const messageAddress = (id: string, span: MessageSpan = {}): string =>
  pathWith(`/messages/${encodeURIComponent(id)}`, { ...span })

const minuteMs = 60_000
/**
 * The search for the message of an attempt covers this time before the attempt: the longest retry
 * window (4 h) plus one hour for the wait before the first attempt. If the message is older, the
 * result of the search is incomplete.
 */
const beforeMs = 5 * 60 * minuteMs

/** The time span to search for a message with an attempt or a dead letter at `at` (ISO 8601). */
export const spanBefore = (at: string): MessageSpan => ({
  since: new Date(Date.parse(at) - beforeMs).toISOString(),
  until: new Date(Date.parse(at) + minuteMs).toISOString(),
})
