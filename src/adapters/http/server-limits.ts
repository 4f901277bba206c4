import { type DurationMs, durationMs } from '../../core/time.ts'

/** Limits on what one client, or all clients together, may use of an HTTP server. */
export interface HttpLimits {
  /** Maximum bytes of the request line and header fields. The same limit applies to trailers. */
  readonly headBytes: number
  readonly headFields: number
  /**
   * Maximum time until the request head is complete. It starts when the connection opens. For later
   * requests of the connection, it starts with the first byte of the request.
   */
  readonly headTimeout: DurationMs
  /** Maximum time until the body is complete. It starts when `headTimeout` starts. */
  readonly requestTimeout: DurationMs
  /** How often `headTimeout` and `requestTimeout` are checked. */
  readonly checkEvery: DurationMs
  /**
   * The minimum speed of a body: it must grow by `bytes` in each period of `within`. A body of more
   * than `large.above` bytes must grow by `large.bytes` instead.
   */
  readonly progress: {
    readonly bytes: number
    readonly within: DurationMs
    readonly large?: { readonly above: number; readonly bytes: number }
  }
  /**
   * Maximum idle time of a connection. It is longer than that of proxies (60 to 600 s). Otherwise a
   * proxy could use a connection that the server is closing, and respond with 502.
   */
  readonly keepAlive: DurationMs
  /**
   * Maximum age of a connection: otherwise clients that keep their connections would never reach
   * new pods. The age is random, so that not all connections close together.
   */
  readonly age: { readonly min: DurationMs; readonly max: DurationMs }
  /**
   * Maximum time without data in either direction. After a response, `keepAlive` applies instead.
   */
  readonly inactivityTimeout: DurationMs
  /**
   * Maximum number of open connections.
   * - Above half of it, a connection closes after its next response (not on the ops server).
   * - At the maximum, a new connection replaces an idle one; on the ops server, also a busy one.
   */
  readonly connections: number
  /**
   * Maximum number of open connections of one client address. If a proxy names the client address
   * in a header, this is the maximum number of requests in progress instead.
   */
  readonly connectionsPerAddress: number
  /** Maximum unanswered requests on one connection. Further requests wait. */
  readonly pipelined: number
  /**
   * The server discards the rest of a refused body up to these limits. Otherwise TCP could reset
   * the connection before the client reads the response.
   */
  readonly linger: { readonly time: DurationMs; readonly bytes: number }
  /**
   * How long `stop` still accepts requests. Otherwise a connection could close during a request,
   * and the client would not know whether the request was processed.
   */
  readonly acceptAfterStop: DurationMs
  /** Time from the call of `stop` until it aborts requests that are not answered. */
  readonly drain: DurationMs
}

export const defaultLimits: HttpLimits = {
  headBytes: 16_384,
  headFields: 200,
  headTimeout: durationMs(15_000),
  requestTimeout: durationMs(120_000),
  checkEvery: durationMs(1_000),
  // 16 KiB per second for large bodies: a bad mobile connection reaches this speed.
  progress: { bytes: 1_024, within: durationMs(10_000), large: { above: 65_536, bytes: 163_840 } },
  keepAlive: durationMs(620_000),
  age: { min: durationMs(540_000), max: durationMs(660_000) },
  inactivityTimeout: durationMs(130_000),
  connections: 4_000,
  connectionsPerAddress: 2_500,
  pipelined: 32,
  linger: { time: durationMs(5_000), bytes: 64 * 1_048_576 },
  acceptAfterStop: durationMs(1_000),
  drain: durationMs(20_000),
}
