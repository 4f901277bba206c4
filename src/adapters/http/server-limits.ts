import { type DurationMs, durationMs } from '../../core/time.ts'

/** Limits on what one client, or all clients together, may use of an HTTP server. */
export interface HttpLimits {
  /**
   * Maximum bytes of the request line and header fields of a request. The same limit applies to its
   * trailers.
   */
  readonly headBytes: number
  readonly headFields: number
  /**
   * Maximum time until the request head is complete. For the first request of a connection, the
   * time starts when the connection opens. For a later request, it starts with the first byte of
   * this request.
   */
  readonly headTimeout: DurationMs
  /**
   * Maximum time until the body is complete. The time starts at the same moment as that of
   * `headTimeout`.
   */
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
   * How long a connection stays open without a request. Proxies close idle connections earlier, for
   * example nginx and AWS after 60 s, Traefik after 90 s, Caddy after 120 s, and Google Cloud after
   * 600 s. This time is longer, so that the proxy, and not this server, closes the connection.
   * Otherwise the proxy could send a request on a connection that the server is closing, and then
   * respond with 502.
   */
  readonly keepAlive: DurationMs
  /**
   * Maximum age of a connection: a connection that is older closes after its next response. The
   * maximum of each connection is a random time between `min` and `max`, so that connections of the
   * same age do not all close together. The limit exists because a Service of Kubernetes
   * distributes connections, not requests: clients that keep their connections reach new pods only
   * when they connect again. The ops server has no maximum age.
   */
  readonly age: { readonly min: DurationMs; readonly max: DurationMs }
  /**
   * How long a connection may be without data in both directions before it is closed. After a
   * response, `keepAlive` applies instead.
   */
  readonly silence: DurationMs
  /**
   * Maximum number of open connections. While the process has no CPU time, each connection can
   * receive up to 64 KiB of data that is not parsed yet. With the default of 4,000 connections,
   * this data takes at most half of the memory limit of the Helm chart.
   * - Above half of the maximum, a connection is closed after its next response.
   * - At the maximum, a new connection replaces an idle one (`ConnectionLimiter`).
   * - The ops server (`ops-server.ts`) differs in two ways. It closes no connection below the
   *   maximum. At the maximum, a new connection may also replace one with a request in progress.
   */
  readonly connections: number
  /**
   * Maximum number of open connections of one client address. If a header of a proxy names the
   * client address, the maximum applies to the requests in progress of this address instead,
   * because the connections are those of the proxy.
   */
  readonly connectionsPerAddress: number
  /**
   * Maximum unanswered requests on one connection. Further requests wait (paced-http-parsing.ts).
   */
  readonly pipelined: number
  /**
   * When the server refuses a request before the body is complete, it reads and discards the rest
   * of the body up to these limits. Otherwise the connection could be reset before the client has
   * read the response.
   */
  readonly linger: { readonly time: DurationMs; readonly bytes: number }
  /**
   * How long `stop` still accepts requests. The connection of each request closes after the
   * response. So in this time, a client that keeps its connection learns that it must connect
   * elsewhere, and a client that opens a connection for each request can still send one. Otherwise
   * a connection could close while a request is being sent, and the client would not know whether
   * the request was processed.
   */
  readonly lastCall: DurationMs
  /** Time from the call of `stop` until it aborts requests that are not answered. */
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
  keepAlive: durationMs(620_000),
  age: { min: durationMs(540_000), max: durationMs(660_000) },
  silence: durationMs(130_000),
  connections: 4_000,
  connectionsPerAddress: 2_500,
  pipelined: 32,
  linger: { time: durationMs(5_000), bytes: 64 * 1_048_576 },
  lastCall: durationMs(1_000),
  drain: durationMs(20_000),
}
