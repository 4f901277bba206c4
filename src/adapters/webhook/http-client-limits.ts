/* The limits of both HTTP clients (got and undici). */

/** Maximum bytes of a response head. */
export const maxHeadBytes = 16 * 1_024
/**
 * Maximum interim responses (1xx) to one request. Real servers send only the statuses 100 and 103.
 */
export const maxInterimResponses = 32
/**
 * Maximum bytes that are read of a response body, so that the connection can be reused. With a
 * longer body, the connection is closed.
 */
export const maxBodyBytes = 64 * 1_024

/**
 * Maximum bytes of one response on the wire: enough for a body of 64 KiB in chunks of one byte (6
 * bytes each). An endpoint could otherwise send line ends or zeros without end.
 */
export const maxAnswerBytes = 512 * 1_024

/** The response or its head is too long, or its interim responses are too long or too many. */
export class ResponseTooLong extends Error {
  readonly code = 'HPE_HEADER_OVERFLOW'
}

/**
 * Maximum TLS session tickets on one connection. Real servers send a few, and each takes about 50
 * µs of CPU time.
 */
export const maxTickets = 32
/**
 * Maximum time from the check of a certificate to the last resumption of its TLS session, because a
 * resumption does not check the certificate again.
 */
export const maxSessionAgeMs = 3_600_000

/**
 * How long a connection may stay idle. It is shorter than the 15 or 60 s of many servers, so that
 * Hookline rarely sends a request on a connection that is just being closed. A server can shorten
 * it with the header `Keep-Alive: timeout`.
 */
export const idleTimeoutMs = 10_000
/** Maximum age of a reused connection, so that DNS changes take effect. */
export const maxAgeMs = 300_000
/**
 * Maximum idle connections to one host and port. With Node's default of 256, connections would be
 * closed and reopened all the time under load.
 */
export const maxIdlePerHost = 1_024
/**
 * Above this number of open connections, none is kept idle. Otherwise idle connections could use up
 * the file descriptors of the process.
 */
export const maxKept = 8_192

/** Error codes of a request on a connection that the server had already closed. */
export const staleCodes: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE', 'ECONNABORTED'])
