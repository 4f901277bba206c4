import type { Dispatcher } from 'undici'
import type { CallResult, WebhookCall, WebhookTransport } from '../../core/ports.ts'
import { codeOf, failureOf, rootOf, timeIsOver } from './call-failure.ts'
import { maxBodyBytes, staleCodes } from './client-limits.ts'
import { createGenerations, type Generations } from './dial.ts'
import { type CallEnd, createTransport, type Exchange, type TransportDeps } from './transport.ts'
import type { UndiciConnection } from './undici-connection.ts'
import { Pool } from './undici-pool.ts'

/** Calls webhooks with undici over kept-alive connections. */
export function createUndiciTransport(deps: TransportDeps): WebhookTransport {
  return createTransport(deps, ({ network, resolve, clock }) => {
    const pools = createGenerations({ network, resolve }, policy => new Pool(policy, () => clock.monotonic()))
    return {
      exchange: (call, end) => new UndiciExchange(call, pools, end),
      close: () => pools.close(),
    }
  })
}

type Headers = Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseStart']>>[2]

/** Sends, waits for the head of the answer, reads a little of its body. It is undici's handler itself: the cheapest way through it. */
class UndiciExchange implements Exchange, Dispatcher.DispatchHandler {
  readonly #call: WebhookCall
  readonly #pools: Generations<Pool>
  readonly #callEnd: CallEnd
  #pool: Pool | undefined
  #connection: UndiciConnection | undefined
  /** Known from the complete head on: then nothing changes it. */
  #answer: CallResult | undefined
  #bodyBytes = 0
  #isSent = false
  #isRepeated = false
  #hasEnded = false

  constructor(call: WebhookCall, pools: Generations<Pool>, end: CallEnd) {
    this.#call = call
    this.#pools = pools
    this.#callEnd = end
  }

  get isSent(): boolean {
    return this.#isSent
  }

  start(): void {
    const { url, headers, body } = this.#call
    this.#isSent = false
    const pool = this.#pools.current()
    const target = pool.target(url)
    if (target === undefined) {
      this.onResponseError(undefined, notHttp())
      return
    }
    const connection = this.#isRepeated ? pool.fresh(target.origin) : pool.take(target.origin)
    this.#pool = pool
    this.#connection = connection
    connection.send({ method: 'POST', path: target.path, headers, body }, this)
  }

  expire(after: string): void {
    this.#answer ??= timeIsOver(this.#connection?.phase ?? 'exchange', after)
    this.#drop()
  }

  onRequestStart(): void {
    this.#isSent = true
    this.#connection?.expectAnswer()
  }

  onResponseStart(_controller: unknown, status: number, headers: Headers): void {
    this.#note(status, headers['retry-after'])
    if (Number(headers['content-length']) > maxBodyBytes) this.#drop()
  }

  onResponseData(_controller: unknown, chunk: Buffer): void {
    this.#bodyBytes += chunk.length
    if (this.#bodyBytes > maxBodyBytes) this.#drop()
  }

  onResponseEnd(): void {
    this.#end(true)
  }

  onResponseError(_controller: unknown, error: Error): void {
    if (this.#hasEnded) return
    if (this.#answer === undefined && isSwitch(error)) this.#note(101, undefined)
    if (this.#answer === undefined && this.#isStale(error)) {
      // Once only: the second time the connection is a fresh one, which is never stale.
      this.#isRepeated = true
      this.#connection?.drop()
      this.start()
      return
    }
    this.#answer ??= failureOf(error, this.#connection?.phase ?? 'exchange')
    this.#drop()
  }

  /** Its connection broke because the server had closed it while it was idle: nothing tells that the request was read. */
  #isStale(error: Error): boolean {
    const connection = this.#connection
    if (!connection?.isReused) return false
    return !this.#isSent || (connection.isUntouched && staleCodes.has(codeOf(rootOf(error))))
  }

  #note(status: number, retryAfter: string | string[] | undefined): void {
    const first = Array.isArray(retryAfter) ? retryAfter[0] : retryAfter
    this.#answer ??= { kind: 'answered', status, retryAfter: first }
  }

  /** Ends and gives the connection up. */
  #drop(): void {
    this.#end(false)
    this.#connection?.drop()
  }

  #end(mayKeep: boolean): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    // Then undici has decided whether it keeps the connection, and does not take what is thrown there for an error of the request.
    process.nextTick(() => {
      if (mayKeep && this.#connection !== undefined) this.#pool?.release(this.#connection)
      this.#callEnd.ended(this.#answer as CallResult)
    })
  }
}

/** undici refuses to switch protocols: that is its only sign of a complete head with a 101, whatever this says to switch to. */
const isSwitch = (error: Error): boolean => codeOf(error) === 'ECONNRESET' && error.message === 'bad upgrade'

const notHttp = (): Error => Object.assign(new TypeError('the URL is not one of HTTP'), { code: 'ERR_INVALID_URL' })
