/* Limits that both HTTP clients (got and undici) apply. */

/** Maximum size of a response head. A request whose response head is larger fails. */
export const maxHeadBytes = 16 * 1_024
/**
 * Maximum number of interim responses (1xx) to one request. Real servers send at most 100 and 103.
 */
export const maxInterimResponses = 32
/**
 * Maximum bytes of a response body that are read so that the connection can be reused. Above it,
 * the connection is closed.
 */
export const maxBodyBytes = 64 * 1_024

/**
 * How long a connection may stay idle. Many servers close one after 5, 15 or 60 s. A server's
 * `Keep-Alive: timeout` header shortens this.
 */
export const idleTimeoutMs = 10_000
/** Maximum age of a connection that is reused. After it, a new connection picks up DNS changes. */
export const maxAgeMs = 300_000
/**
 * Maximum idle connections per host. With Node's default of 256, connections would be closed and
 * reopened all the time under load.
 */
export const maxIdlePerHost = 1_024
/**
 * Number of open connections above which none is kept idle. Idle connections to many hosts must not
 * use up the file descriptors.
 */
export const maxKept = 8_192

/**
 * Error codes of a request on a kept-alive connection that the server had closed while it was idle.
 */
export const staleCodes: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE', 'ECONNABORTED'])
