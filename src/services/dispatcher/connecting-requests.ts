import { flowLimits } from '../../core/flow/limits.ts'
import type { Clock } from '../../core/ports.ts'
import type { WebhookCall, WebhookTransport } from '../../core/webhook-ports.ts'
import type { DestinationState } from './delivery.ts'

const { max, countedMs } = flowLimits.connecting

/** The parts of a request that determine which connections it can use. */
type Endpoint = Pick<WebhookCall, 'url' | 'tlsIdentity'>

interface Deps {
  readonly transport: Pick<WebhookTransport, 'hasIdleConnection'>
  readonly clock: Pick<Clock, 'after' | 'soon'>
  /** Called when a request of this destination no longer counts as connecting. */
  readonly onFree: (target: DestinationState) => void
}

/**
 * Limits the requests that open a connection at the same time. Thousands of TLS handshakes together,
 * for example after a restart, would take longer than the time limit of a request, so that requests
 * to healthy endpoints would fail.
 */
export class ConnectingRequests {
  readonly #deps: Deps
  #count = 0

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Whether a request to this endpoint may start: on an idle connection, or on a new one. */
  mayStart(endpoint: Endpoint): boolean {
    return this.#count < max || this.#deps.transport.hasIdleConnection(endpoint)
  }

  /**
   * Counts a request that starts now, unless it uses an idle connection. Call the returned function
   * when the request is connected or has ended; repeated calls have no effect.
   */
  start(endpoint: Endpoint, target: DestinationState): (() => void) | undefined {
    const { transport, clock, onFree } = this.#deps
    if (transport.hasIdleConnection(endpoint)) return undefined
    this.#count++
    let isCounted = true
    const end = (): void => {
      if (!isCounted) return
      isCounted = false
      cancel()
      this.#count--
      onFree(target)
    }
    // Node runs timers before it reads sockets. After a block of the event loop, the request may
    // already be connected, so it is checked one step later.
    let cancel = clock.after(countedMs, () => {
      cancel = clock.soon(end)
    })
    return end
  }
}
