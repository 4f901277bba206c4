/* This file has the limits that both HTTP clients (got and undici) apply. */

/** Maximum bytes of a response head. A larger head fails the request. */
export const maxHeadBytes = 16 * 1_024
/**
 * Maximum number of interim responses (1xx) to one request. Real servers send only the statuses 100
 * and 103.
 */
export const maxInterimResponses = 32
/**
 * Maximum bytes that are read of a response body. Hookline reads a body to its end so that the
 * connection can be reused. If the body is longer than this maximum, the connection is closed.
 */
export const maxBodyBytes = 64 * 1_024

/**
 * Maximum bytes of one response on the wire. This is enough for a body of 64 KiB in chunks of one
 * byte, which take 6 bytes each. Without this limit, an endpoint could send line ends before the
 * head, or zeros in the size of a chunk, without end.
 */
export const maxAnswerBytes = 512 * 1_024

/** The response or its head is too long, or its interim responses are too long or too many. */
export class ResponseTooLong extends Error {
  readonly code = 'HPE_HEADER_OVERFLOW'
}

/**
 * Maximum number of TLS session tickets on one connection. Real servers send at most a few. Each
 * one takes about 50 µs of CPU time.
 */
export const maxTickets = 32
/**
 * Maximum time from the check of a certificate to the last resumption of its TLS session. A
 * resumption does not check the certificate again. Without this maximum, sessions could be resumed
 * long after the certificate has expired.
 */
export const maxSessionAgeMs = 3_600_000

/**
 * How long a connection may stay idle. Many servers close idle connections after 15 or 60 s. This
 * time is shorter, so Hookline rarely sends a request on a connection that the server is just
 * closing. A server that closes idle connections earlier can say so with its `Keep-Alive: timeout`
 * header, which shortens this time.
 */
export const idleTimeoutMs = 10_000
/** Maximum age of a connection that is reused. The limit lets DNS changes take effect. */
export const maxAgeMs = 300_000
/**
 * Maximum number of idle connections to one host and port that are kept for reuse. With Node's
 * default of 256, connections would be closed and reopened all the time under load.
 */
export const maxIdlePerHost = 1_024
/**
 * If more connections than this number are open, a connection is closed after its request, and not
 * kept idle. Otherwise, idle connections to many hosts could use up the file descriptors of the
 * process.
 */
export const maxKept = 8_192

/**
 * Error codes that a request has if it was sent on a kept-alive connection that the server had
 * already closed.
 */
export const staleCodes: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE', 'ECONNABORTED'])
