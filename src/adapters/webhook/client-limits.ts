/* What every HTTP client of ours keeps to. */

/** A longer head is no answer. */
export const maxHeadBytes = 16 * 1_024
/** Interim answers (1xx) to one request; 100 and 103 are two. */
export const maxInterimAnswers = 32
/** What is read of a body, so that its connection can be used again. */
export const maxBodyBytes = 64 * 1_024

/** Many servers close an idle connection after 5, 15 or 60 s; a `Keep-Alive: timeout` of theirs shortens this. */
export const idleTimeoutMs = 10_000
/** Then a connection is not reused any more, so that a change in the DNS is followed. */
export const maxAgeMs = 300_000
/** Idle connections per host; Node's 256 would make them churn under load. */
export const maxIdlePerHost = 1_024
/** Open connections above which none is kept: idle ones to many hosts must not use up the file descriptors. */
export const maxKept = 8_192

/** How a kept-alive connection looks that the server had closed while it was idle. */
export const staleCodes: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE', 'ECONNABORTED'])
