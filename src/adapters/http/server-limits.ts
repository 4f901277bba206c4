import { type DurationMs, durationMs } from '../../core/units.ts'

/** What one peer, or all of them together, may take of an HTTP server. */
export interface HttpLimits {
  /** Request line and header fields; also trailers. */
  readonly headBytes: number
  readonly headFields: number
  /** From the connection, or from the first byte on a kept one, to the end of the head. */
  readonly headTimeout: DurationMs
  /** The same to the end of the body. */
  readonly requestTimeout: DurationMs
  /** How often the two are looked at. */
  readonly checkEvery: DurationMs
  /** A body must bring so many bytes in each such time; `large` ones, which hold more memory, must be faster. */
  readonly progress: {
    readonly bytes: number
    readonly within: DurationMs
    readonly large?: { readonly above: number; readonly bytes: number }
  }
  /** A connection stays open so long without a request. Longer than the 60 s of load balancers: whoever closes first must be they. */
  readonly keepAlive: DurationMs
  /** Nothing comes or goes for so long: the connection is dropped, whatever it waits for. */
  readonly silence: DurationMs
  /** From half of it on connections are not kept open; above, they are dropped. */
  readonly connections: number
  /** The same of one client address; where a proxy names the address, its requests in progress. */
  readonly connectionsPerAddress: number
  /** Requests of one connection that are not answered yet. */
  readonly pipelined: number
  /** A request that is refused while it comes in is read on and forgotten for so long and so far, or its sender might not see why. */
  readonly linger: { readonly time: DurationMs; readonly bytes: number }
  /**
   * `stop` goes on for so long with taking requests, each as the last of its connection: whoever keeps one open, or opens one for each
   * request and does not know yet that it is to send elsewhere, would otherwise see it closed in the face of a request, and not know what
   * became of that.
   */
  readonly lastCall: DurationMs
  /** `stop` breaks off what is not answered by then. */
  readonly drain: DurationMs
}

export const defaultLimits: HttpLimits = {
  headBytes: 16_384,
  headFields: 200,
  headTimeout: durationMs(15_000),
  requestTimeout: durationMs(120_000),
  checkEvery: durationMs(1_000),
  // 16 KiB a second, as a bad mobile connection sends.
  progress: { bytes: 1_024, within: durationMs(10_000), large: { above: 65_536, bytes: 163_840 } },
  keepAlive: durationMs(75_000),
  silence: durationMs(130_000),
  connections: 10_000,
  connectionsPerAddress: 2_500,
  pipelined: 32,
  linger: { time: durationMs(5_000), bytes: 64 * 1_048_576 },
  lastCall: durationMs(1_000),
  drain: durationMs(20_000),
}
