import { LinkedList, type LinkedListItem } from '../../core/collections/linked-list.ts'
import type { Cancel, Clock } from '../../core/ports.ts'
import type { NetworkSettings } from '../../core/settings/settings.ts'
import { type DurationMs, durationMs, formatDuration } from '../../core/time.ts'
import type { CallResult, WebhookCall, WebhookTransport } from '../../core/webhook-ports.ts'
import { createResolver, type Resolve, type Resolver, systemSources } from './dns-resolver.ts'

export interface TransportDeps {
  /**
   * Called for every request. A change of the settings applies to new connections and closes idle
   * ones.
   */
  readonly network: () => NetworkSettings
  /**
   * The default time limit of a whole request: DNS, connection, TLS, request, head and body of the
   * response.
   */
  readonly timeout: DurationMs
  readonly clock: Clock
  /** By default, uses the hosts file, the name servers and the operating system. */
  readonly resolver?: Resolver
}

/**
 * One webhook request. When it has ended, the exchange calls `CallEnd.ended` exactly once: after
 * `start` has returned, but possibly before `expire` returns.
 */
export interface Exchange extends Expiring {
  start(): void
}

/** Receives the result of a request. */
export type CallEnd = Pick<RequestInProgress, 'ended'>

/** The part of a transport that differs between the HTTP clients. */
export interface HttpClient {
  exchange(call: WebhookCall, end: CallEnd): Exchange
  /**
   * Like `WebhookTransport.hasIdleConnection`.
   * @throws UnusableIdentity
   */
  readonly hasIdleConnection: WebhookTransport['hasIdleConnection']
  /** Closes idle connections, and keeps none from now on. */
  close(): void
}

export interface HttpClientDeps {
  readonly network: () => NetworkSettings
  readonly resolve: Resolve
  readonly clock: Clock
}

/**
 * Creates a transport from an HTTP client. The transport adds name resolution, the deadline, and a
 * `close` that waits for requests in progress.
 */
export function createTransport(deps: TransportDeps, open: (deps: HttpClientDeps) => HttpClient): WebhookTransport {
  const { network, timeout, clock } = deps
  const resolver = deps.resolver ?? createResolver({ clock, sources: systemSources() })
  const client = open({ network, resolve: resolver.resolve, clock })
  const requestsInProgress = new RequestsInProgress(clock, timeout)

  return {
    post(call, onEnd) {
      const begun = requestsInProgress.add(onEnd, call.timeoutMs)
      const exchange = client.exchange(call, begun)
      begun.expiring = exchange
      exchange.start()
    },
    hasIdleConnection(call) {
      try {
        return client.hasIdleConnection(call)
      } catch {
        // The client certificate cannot be used, so the request will fail before it needs a
        // connection.
        return true
      }
    },
    async close() {
      await requestsInProgress.drained()
      resolver.close()
      client.close()
    },
  }
}

/** An operation with a deadline. */
export interface Expiring {
  /**
   * Whether the request was sent, so that its response may have arrived. With undici it is true
   * when the sending begins.
   */
  readonly isSent: boolean
  /** Ends the operation because its deadline has passed. `after` is the time limit as text. */
  expire(after: string): void
}

/** A request in progress, in the linked list `TimeLimit.calls`. */
export class RequestInProgress implements LinkedListItem<RequestInProgress> {
  before: RequestInProgress | undefined = undefined
  after: RequestInProgress | undefined = undefined
  /**
   * The exchange that sends the request. It is set after the construction, because the exchange
   * needs this object as its `CallEnd`.
   */
  expiring: Expiring | undefined = undefined
  /** The deadline, in monotonic milliseconds. */
  readonly dueAt: number
  readonly onEnd: (result: CallResult) => void
  readonly #all: RequestsInProgress
  readonly #limit: TimeLimit

  constructor(all: RequestsInProgress, limit: TimeLimit, dueAt: number, onEnd: (result: CallResult) => void) {
    this.#all = all
    this.#limit = limit
    this.dueAt = dueAt
    this.onEnd = onEnd
  }

  ended(result: CallResult): void {
    this.#limit.calls.remove(this)
    this.#all.end(this, result)
  }
}

/** The requests in progress, grouped by their time limits. */
export class RequestsInProgress {
  readonly #clock: Clock
  /**
   * The requests by time limit. An entry without requests stays, because the configuration has few
   * different time limits.
   */
  readonly #limits = new Map<DurationMs, TimeLimit>()
  readonly #defaultTimeout: DurationMs
  #size = 0
  #drained: PromiseWithResolvers<void> | undefined

  constructor(clock: Clock, defaultTimeout: DurationMs) {
    this.#clock = clock
    this.#defaultTimeout = defaultTimeout
  }

  add(onEnd: (result: CallResult) => void, timeoutMs: DurationMs = this.#defaultTimeout): RequestInProgress {
    let limit = this.#limits.get(timeoutMs)
    if (limit === undefined) {
      limit = new TimeLimit(this.#clock, timeoutMs)
      this.#limits.set(timeoutMs, limit)
    }
    const call = new RequestInProgress(this, limit, this.#clock.monotonic() + timeoutMs, onEnd)
    this.#size++
    limit.add(call)
    return call
  }

  /** Ends a request. `onEnd` may add other requests. */
  end(call: RequestInProgress, result: CallResult): void {
    this.#size--
    call.onEnd(result)
    this.#settle()
  }

  /** Cancels the timers and resolves when no request is in progress. */
  drained(): Promise<void> {
    this.#drained ??= Promise.withResolvers()
    this.#settle()
    return this.#drained.promise
  }

  #settle(): void {
    if (this.#drained === undefined || this.#size > 0) return
    for (const limit of this.#limits.values()) limit.cancel()
    this.#drained.resolve()
  }
}

/**
 * The requests with the same time limit. They expire in the order of their beginning, so one timer
 * serves all.
 */
class TimeLimit {
  readonly #clock: Clock
  readonly #timeout: DurationMs
  /** The requests in the order in which they began. */
  readonly calls = new LinkedList<RequestInProgress>()
  #cancelTimer: Cancel | undefined

  constructor(clock: Clock, timeout: DurationMs) {
    this.#clock = clock
    this.#timeout = timeout
  }

  add(call: RequestInProgress): void {
    this.calls.add(call)
    if (this.#cancelTimer === undefined) this.#arm(this.#timeout)
  }

  cancel(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
  }

  /**
   * Starts the timer. It keeps running without requests, because a new timer for each request would
   * cost more.
   */
  #arm(delay: DurationMs): void {
    // Cancel a timer that `add` has set: `onEnd` of an expired request may have added a request.
    this.#cancelTimer?.()
    this.#cancelTimer = this.#clock.after(delay, () => this.#onTimer())
  }

  /**
   * Expires requests that were not sent. Sent requests expire one event loop iteration later,
   * because Node runs timers before it reads responses that arrived while the process was
   * suspended.
   */
  #onTimer(): void {
    const now = this.#clock.monotonic()
    for (const { expiring, dueAt } of this.calls) {
      if (dueAt > now) break
      if (expiring?.isSent === false) this.#expire(expiring)
    }
    this.#cancelTimer = this.#clock.soon(() => this.#expireDue())
  }

  #expireDue(): void {
    this.#cancelTimer = undefined
    const now = this.#clock.monotonic()
    for (const { expiring, dueAt } of this.calls) {
      if (dueAt > now) {
        this.#arm(durationMs(Math.ceil(dueAt - now)))
        return
      }
      this.#expire(expiring)
    }
  }

  #expire(call: Expiring | undefined): void {
    call?.expire(formatDuration(this.#timeout))
  }
}
