import { Chain, type Chained } from '../../core/collections/chain.ts'
import type { CallResult, Cancel, Clock, WebhookCall, WebhookTransport } from '../../core/ports.ts'
import type { NetworkSettings } from '../../core/settings/settings.ts'
import { type DurationMs, durationMs, formatDuration } from '../../core/units.ts'
import { createResolver, type Resolve, type Resolver, systemSources } from './dns.ts'

export interface TransportDeps {
  /** Read for every call: a change applies to new connections and drops idle ones. */
  readonly network: () => NetworkSettings
  /** For a whole call: DNS, connect, TLS, request, head and body of the answer (A4.1). */
  readonly timeout: DurationMs
  readonly clock: Clock
  /** Left out: the hosts file, the name servers, the operating system. */
  readonly resolver?: Resolver
}

/** One call. Ends once and never within `start`, with an answer or because it was told to expire: then perhaps within `expire`. */
export interface Exchange extends Expiring {
  start(): void
}

/** Who is told when a call has ended. */
export type CallEnd = Pick<CallUnderWay, 'ended'>

/** An HTTP client, as a transport is made of it. */
export interface HttpClient {
  exchange(call: WebhookCall, end: CallEnd): Exchange
  /** Keeps no connection from now on. */
  close(): void
}

export interface HttpClientDeps {
  readonly network: () => NetworkSettings
  readonly resolve: Resolve
  readonly clock: Clock
}

/** What is the same with every HTTP client: names, the deadline, and a close that waits for the calls under way. */
export function createTransport(deps: TransportDeps, open: (deps: HttpClientDeps) => HttpClient): WebhookTransport {
  const { network, timeout, clock } = deps
  const resolver = deps.resolver ?? createResolver({ clock, sources: systemSources() })
  const client = open({ network, resolve: resolver.resolve, clock })
  const underWay = new UnderWay(clock, timeout)

  return {
    post(call, onEnd) {
      const begun = underWay.add(onEnd)
      const exchange = client.exchange(call, begun)
      begun.expiring = exchange
      exchange.start()
    },
    async close() {
      await underWay.drained()
      resolver.close()
      client.close()
    },
  }
}

/** Something that has only so much time. */
export interface Expiring {
  /** All of it has left this process: its answer may be on the way. */
  readonly isSent: boolean
  /** Its time is over. `after`: how much it had, as people write it. */
  expire(after: string): void
}

/** A call: its place among the others, and who waits for its end. */
export class CallUnderWay implements Chained<CallUnderWay> {
  before: CallUnderWay | undefined = undefined
  after: CallUnderWay | undefined = undefined
  /** Given as soon as it is made. */
  expiring: Expiring | undefined = undefined
  /** Its end in monotonic milliseconds, at the latest. */
  readonly dueAt: number
  readonly onEnd: (result: CallResult) => void
  readonly #all: UnderWay

  constructor(all: UnderWay, dueAt: number, onEnd: (result: CallResult) => void) {
    this.#all = all
    this.dueAt = dueAt
    this.onEnd = onEnd
  }

  ended(result: CallResult): void {
    this.#all.end(this, result)
  }
}

/** The calls under way. All have the same time, so the first to begin is the first to expire, and one timer serves them all. */
export class UnderWay {
  readonly #clock: Clock
  readonly #timeout: DurationMs
  /** In the order in which they began. */
  readonly #calls = new Chain<CallUnderWay>()
  #cancelTimer: Cancel | undefined
  #drained: PromiseWithResolvers<void> | undefined

  constructor(clock: Clock, timeout: DurationMs) {
    this.#clock = clock
    this.#timeout = timeout
  }

  add(onEnd: (result: CallResult) => void): CallUnderWay {
    const call = new CallUnderWay(this, this.#clock.monotonic() + this.#timeout, onEnd)
    this.#calls.add(call)
    if (this.#cancelTimer === undefined) this.#arm(this.#timeout)
    return call
  }

  /** Takes a call off that has ended, then tells who waits for it and may add others. */
  end(call: CallUnderWay, result: CallResult): void {
    this.#calls.remove(call)
    call.onEnd(result)
    this.#settle()
  }

  /** Resolves when none is under way. From then on no timer is left behind by calls that have ended. */
  drained(): Promise<void> {
    this.#drained ??= Promise.withResolvers()
    this.#settle()
    return this.#drained.promise
  }

  #settle(): void {
    if (this.#drained === undefined || this.#calls.size > 0) return
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    this.#drained.resolve()
  }

  /** Armed until it fires, also when no call is left: to set a timer for each would cost more than one that fires for nothing. */
  #arm(delay: DurationMs): void {
    // What expired may have been followed by another call, which has set one.
    this.#cancelTimer?.()
    this.#cancelTimer = this.#clock.after(delay, () => this.#onTimer())
  }

  /**
   * Timers run before sockets are read. After a standstill of this process the answers may be there already: to expire their calls
   * would blame endpoints that have answered, open their breakers and do again what is done. What was not sent must not be sent now.
   */
  #onTimer(): void {
    const now = this.#clock.monotonic()
    for (const { expiring, dueAt } of this.#calls) {
      if (dueAt > now) break
      if (expiring?.isSent === false) this.#expire(expiring)
    }
    this.#cancelTimer = this.#clock.soon(() => this.#expireDue())
  }

  #expireDue(): void {
    this.#cancelTimer = undefined
    const now = this.#clock.monotonic()
    for (const { expiring, dueAt } of this.#calls) {
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
