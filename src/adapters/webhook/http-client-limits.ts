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
 * bytes each).
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
 * How long an idle connection is kept. A longer time needs fewer handshakes, but many servers close
 * idle connections after 60 s. A server can shorten the time with the header `Keep-Alive: timeout`.
 */
export const idleTimeoutMs = 30_000
/** Maximum age of a reused connection, so that DNS changes take effect. */
export const maxAgeMs = 300_000
/**
 * Maximum open connections of a transport; above it, the longest idle ones are closed. It is enough
 * for 10,000 hosts.
 */
export const maxOpen = 12_000
/** Approximate memory of an idle connection over TLS, in bytes. */
const bytesPerConnection = 64 * 1_024
/** Connections use at most this part of the memory that the process may use. */
const partForConnections = 1 / 3

/**
 * The maximum number of open connections for a process that may use `memoryBytes` of memory (0:
 * without limit).
 */
export const maxOpenWith = (memoryBytes: number): number =>
  memoryBytes === 0 ? maxOpen : Math.min(maxOpen, Math.floor((memoryBytes * partForConnections) / bytesPerConnection))

/**
 * The memory in bytes that a process must be permitted to use, so that it can keep `connections`
 * open; the inverse of `maxOpenWith`.
 */
export const memoryToKeepOpen = (connections: number): number =>
  (Math.min(connections, maxOpen) * bytesPerConnection) / partForConnections

/** Error codes of a request on a connection that the server had already closed. */
export const staleCodes: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE', 'ECONNABORTED'])
