import type { Clock } from '../../core/ports.ts'
import { maxConnecting, maxConnectingMs } from './http-client-limits.ts'

/** Starts a request. It calls `onConnected` when the request has its connection, or has failed. */
type Start = (onConnected: () => void) => void

/**
 * Limits how many requests open a connection at the same time; more requests wait. Thousands of TLS
 * handshakes together, for example after a restart, would keep the event loop busy for longer than
 * the time limit of a request, so that all of them would fail and begin again.
 */
export class ConnectingRequests {
  readonly #clock: Pick<Clock, 'after'>
  /** The requests that wait, the longest waiting first. */
  readonly #waiting: Start[] = []
  #max = maxConnecting
  #connecting = 0

  constructor(clock: Pick<Clock, 'after'>) {
    this.#clock = clock
  }

  /** Calls `start` immediately if the limit allows, otherwise later. */
  add(start: Start): void {
    if (this.#connecting < this.#max) this.#start(start)
    else this.#waiting.push(start)
  }

  /** Starts all requests that wait, and does not limit further ones. */
  stopLimiting(): void {
    this.#max = Number.POSITIVE_INFINITY
    this.#startNext()
  }

  #start(start: Start): void {
    this.#connecting++
    let isCounted = true
    const end = (): void => {
      if (!isCounted) return
      isCounted = false
      cancelTimer()
      this.#connecting--
      this.#startNext()
    }
    // An endpoint that does not respond must not hold up the others.
    const cancelTimer = this.#clock.after(maxConnectingMs, end)
    start(end)
  }

  #startNext(): void {
    while (this.#connecting < this.#max) {
      const start = this.#waiting.shift()
      if (start === undefined) return
      this.#start(start)
    }
  }
}
