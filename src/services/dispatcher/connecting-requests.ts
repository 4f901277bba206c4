import { flowLimits } from '../../core/flow/limits.ts'
import type { Clock } from '../../core/ports.ts'
import type { CallResult, WebhookCall, WebhookTransport } from '../../core/webhook-ports.ts'

const { max, countedMs } = flowLimits.connecting

interface Deps {
  readonly transport: Pick<WebhookTransport, 'post' | 'hasIdleConnection'>
  readonly clock: Pick<Clock, 'after' | 'monotonic' | 'soon'>
  /** End of the latest period in which the process lacked CPU, in monotonic ms. */
  readonly cpuSaturatedUntil: () => number
  /** Called when a request no longer counts as connecting. */
  readonly onFree: () => void
}

/**
 * A transport that counts the requests that are opening a connection, so that the dispatcher can
 * limit them. Thousands of TLS handshakes together, for example after a restart, would take longer
 * than the time limit of a request, so that requests to healthy endpoints would fail.
 */
export class ConnectingRequests implements Pick<WebhookTransport, 'post'> {
  readonly #deps: Deps
  #count = 0

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Whether an attempt with these requests may start. */
  mayStart(calls: readonly Pick<WebhookCall, 'url' | 'tlsIdentity'>[]): boolean {
    return this.#count < max || calls.every(call => this.#deps.transport.hasIdleConnection(call))
  }

  post(call: WebhookCall, onEnd: (result: CallResult) => void): void {
    const { transport } = this.#deps
    if (transport.hasIdleConnection(call)) return transport.post(call, onEnd)
    const onConnected = this.#start()
    transport.post({ ...call, onConnected }, result => {
      onConnected()
      onEnd(result)
    })
  }

  /** Counts a request until the returned function is called, but not for longer than `countedMs`. */
  #start(): () => void {
    const { clock, onFree } = this.#deps
    let isCounted = true
    const end = (): void => {
      if (!isCounted) return
      isCounted = false
      cancel()
      this.#count--
      onFree()
    }
    // While the process lacks CPU, it may itself be the reason why the request is not connected yet.
    const expire = (): void => {
      if (this.#lacksCpu()) cancel = clock.after(countedMs, expireSoon)
      else end()
    }
    // Node runs timers before it reads sockets. So after a block of the event loop, it first learns
    // that a request is connected.
    const expireSoon = (): void => {
      cancel = clock.soon(expire)
    }
    let cancel = clock.after(countedMs, expireSoon)
    this.#count++
    return end
  }

  #lacksCpu(): boolean {
    const { clock, cpuSaturatedUntil } = this.#deps
    return cpuSaturatedUntil() > clock.monotonic() - countedMs
  }
}
