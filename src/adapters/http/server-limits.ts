import { type DurationMs, durationMs } from '../../core/time.ts'

/** Limits on what one client, or all clients together, may use of an HTTP server. */
export interface HttpLimits {
  /** Maximum bytes of the request line and header fields, and of trailers. */
  readonly headBytes: number
  readonly headFields: number
  /**
   * Maximum time until the request head is complete. It starts with the connection, or with the
   * first byte on a kept connection.
   */
  readonly headTimeout: DurationMs
  /** Maximum time until the body is complete. It starts when `headTimeout` starts. */
  readonly requestTimeout: DurationMs
  /** How often `headTimeout` and `requestTimeout` are checked. */
  readonly checkEvery: DurationMs
  /**
   * The minimum speed of a body: it must grow by `bytes` in each period of `within`. A body of more
   * than `large.above` bytes must grow by `large.bytes` instead, because it holds more memory while
   * it is read.
   */
  readonly progress: {
    readonly bytes: number
    readonly within: DurationMs
    readonly large?: { readonly above: number; readonly bytes: number }
  }
  /**
   * How long a connection stays open without a request. It is longer than the 60 s of load
   * balancers, so that they close connections first.
   */
  readonly keepAlive: DurationMs
  /** A connection on which no data is sent or received for this time is closed, in any state. */
  readonly silence: DurationMs
  /**
   * Maximum connections. The first data of a connection takes up to 64 KiB. If all connections send
   * data while the process has no CPU, this many take half of the chart's memory limit. Above half
   * of this number, connections are closed after their response. When this number is reached, a new
   * connection replaces an idle one (`ConnectionLimiter`). In the ops server (`ops-server.ts`), only
   * the maximum applies, and a connection with a request in progress may be replaced too.
   */
  readonly connections: number
  /**
   * Maximum connections of one client address. When a proxy's header names the address, this is the
   * maximum of its requests in progress instead.
   */
  readonly connectionsPerAddress: number
  /** Maximum unanswered requests on one connection. Further requests wait (paced-parsing.ts). */
  readonly pipelined: number
  /**
   * When the server refuses a request before the body is complete, it reads and discards the rest
   * of the body up to these limits. Otherwise the connection could be reset before the client has
   * read the response.
   */
  readonly linger: { readonly time: DurationMs; readonly bytes: number }
  /**
   * How long `stop` still accepts requests, each as the last one of its connection. Clients that
   * keep a connection, or open one per request, need this time to learn that they must connect
   * elsewhere. Otherwise a connection could close while a request is being sent, and the client
   * would not know whether the request was processed.
   */
  readonly lastCall: DurationMs
  /** After this time, `stop` aborts requests that are not answered. */
  readonly drain: DurationMs
}

export const defaultLimits: HttpLimits = {
  headBytes: 16_384,
  headFields: 200,
  headTimeout: durationMs(15_000),
  requestTimeout: durationMs(120_000),
  checkEvery: durationMs(1_000),
  // Large bodies need 16 KiB per second, which a bad mobile connection reaches.
  progress: { bytes: 1_024, within: durationMs(10_000), large: { above: 65_536, bytes: 163_840 } },
  keepAlive: durationMs(75_000),
  silence: durationMs(130_000),
  connections: 4_000,
  connectionsPerAddress: 2_500,
  pipelined: 32,
  linger: { time: durationMs(5_000), bytes: 64 * 1_048_576 },
  lastCall: durationMs(1_000),
  drain: durationMs(20_000),
}
