import { flowLimits } from '../../core/flow/flow-control-constants.ts'
import type { TlsIdentity } from '../../core/network/tls-identity.ts'
import type { Clock } from '../../core/ports.ts'
import { durationMs } from '../../core/time.ts'
import type { CallResult, WebhookCall, WebhookTransport } from '../../core/webhook-ports.ts'

const { max, countedMs, countedMsWhenSaturated } = flowLimits.connecting

interface Deps {
  readonly transport: Pick<WebhookTransport, 'post' | 'hasIdleConnection'>
  readonly clock: Pick<Clock, 'after' | 'monotonic' | 'soon'>
  /** End of the latest period in which the process lacked CPU, in monotonic ms. */
  readonly cpuSaturatedUntil: () => number
  /** When a request no longer counts as connecting, this function is called in a later tick. */
  readonly onFree: () => void
}

/**
 * Counts the requests that are opening a connection. Call `mayStart` before an attempt: `post` does
 * not limit these requests, and too many concurrent TLS handshakes time out.
 */
export class ConnectingRequests implements Pick<WebhookTransport, 'post'> {
  readonly #deps: Deps
  #count = 0

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Whether an attempt with requests to these webhooks may start. */
  mayStart(webhooks: readonly Pick<WebhookCall, 'url'>[], tlsIdentity: TlsIdentity | undefined): boolean {
    const { transport } = this.#deps
    return this.#count < max || webhooks.every(({ url }) => transport.hasIdleConnection({ url, tlsIdentity }))
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

  /**
   * Counts a request as connecting until the returned function is called, but for at most
   * `countedMs`. While the process lacks CPU, the maximum is `countedMsWhenSaturated`.
   */
  #start(): () => void {
    const { clock, onFree } = this.#deps
    const startedAt = clock.monotonic()
    let isCounted = true
    const end = (): void => {
      if (!isCounted) return
      isCounted = false
      cancel()
      this.#count--
      clock.soon(onFree)
    }
    const expire = (): void => {
      const leftMs = startedAt + countedMsWhenSaturated - clock.monotonic()
      if (leftMs > 0 && this.#lacksCpu()) cancel = clock.after(durationMs(Math.min(countedMs, leftMs)), expireSoon)
      else end()
    }
    // Node runs timers before it reads sockets. So `soon` delays `expire` until Node has read the
    // responses that have arrived.
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
