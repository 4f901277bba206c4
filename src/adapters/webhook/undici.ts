import type { Dispatcher } from 'undici'
import type { CallResult, WebhookCall, WebhookTransport } from '../../core/webhook-ports.ts'
import { codeOf, failureOf, rootOf, timeoutResult } from './call-failure.ts'
import { maxBodyBytes, staleCodes } from './http-client-limits.ts'
import { KeptBody } from './kept-body.ts'
import { Pool } from './pool-of-undici-connections.ts'
import { createPoolGenerations, type PoolGenerations } from './pools-by-tls-identity.ts'
import type { UndiciConnection } from './reusable-undici-connection.ts'
import { type CallEnd, createTransport, type Exchange, type TransportDeps } from './transport-for-any-http-client.ts'

/** Sends webhook requests with undici over kept-alive connections. */
export function createUndiciTransport(deps: TransportDeps): WebhookTransport {
  return createTransport(deps, ({ network, resolve, clock }) => {
    const pools = createPoolGenerations(
      { network, resolve, clock },
      (rules, open) => new Pool(rules, open, () => clock.monotonic()),
    )
    return {
      exchange: (call, end) => new UndiciExchange(call, pools, end),
      hasIdleConnection({ url, tlsIdentity }) {
        const target = pools.current(tlsIdentity).target(url)
        return target === undefined || target.origin.idle.length > 0
      },
      close: () => pools.close(),
    }
  })
}

type Headers = Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseStart']>>[2]

/**
 * One webhook request: sends it, waits for the response head, and reads at most 64 KiB of the body.
 * Implements a dispatch handler, because this is undici's cheapest interface.
 */
class UndiciExchange implements Exchange, Dispatcher.DispatchHandler {
  readonly #call: WebhookCall
  readonly #pools: PoolGenerations<Pool>
  readonly #callEnd: CallEnd
  #pool: Pool | undefined
  #connection: UndiciConnection | undefined
  /** The result: the response head, an error or the deadline, whichever comes first. */
  #answer: CallResult | undefined
  /** The first `keepBodyBytes` bytes of the body; `undefined` if the caller does not need them. */
  #kept: KeptBody | undefined
  #bodyBytes = 0
  #isSent = false
  #isRepeated = false
  #hasEnded = false

  constructor(call: WebhookCall, pools: PoolGenerations<Pool>, end: CallEnd) {
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
    const pool = this.#currentPool()
    const target = pool?.target(url)
    if (pool === undefined) return
    if (target === undefined) {
      this.onResponseError(undefined, notHttp())
      return
    }
    const connection = this.#isRepeated ? pool.fresh(target.origin) : pool.take(target.origin)
    this.#pool = pool
    this.#connection = connection
    connection.send({ method: 'POST', path: target.path, headers, body }, this)
  }

  /**
   * The pool for the current settings and the TLS identity. Ends the request and returns
   * `undefined` when the identity cannot be used.
   */
  #currentPool(): Pool | undefined {
    try {
      return this.#pools.current(this.#call.tlsIdentity)
    } catch (error) {
      this.onResponseError(undefined, error as Error)
      return undefined
    }
  }

  expire(after: string): void {
    this.#answer ??= timeoutResult(this.#connection?.phase ?? 'exchange', after)
    this.#drop()
  }

  onRequestStart(): void {
    this.#isSent = true
    this.#connection?.expectAnswer()
    this.#call.onConnected?.()
  }

  onResponseStart(_controller: unknown, status: number, headers: Headers): void {
    this.#note(status, headers['retry-after'])
    const { keepBodyBytes } = this.#call
    if (keepBodyBytes !== undefined) this.#kept = new KeptBody(keepBodyBytes, headers['content-encoding'])
    else if (Number(headers['content-length']) > maxBodyBytes) this.#drop()
  }

  onResponseData(_controller: unknown, chunk: Buffer): void {
    this.#bodyBytes += chunk.length
    this.#kept?.add(chunk)
    if (this.#bodyBytes > maxBodyBytes) this.#drop()
  }

  onResponseEnd(): void {
    if (this.#kept !== undefined) this.#kept.isComplete = true
    this.#end(true)
  }

  onResponseError(_controller: unknown, error: Error): void {
    if (this.#hasEnded) return
    if (this.#answer === undefined && isProtocolSwitch(error)) this.#note(101, undefined)
    if (this.#answer === undefined && this.#isStale(error)) {
      // The server has probably closed the idle connection before it read the request. The
      // repetition uses a new connection. Only requests on reused connections are repeated, so this
      // happens once.
      this.#isRepeated = true
      this.#connection?.destroy()
      this.start()
      return
    }
    this.#answer ??= failureOf(error, this.#connection?.phase ?? 'exchange')
    this.#drop()
  }

  /**
   * Whether the server has probably closed the idle connection before it read the request, so that
   * the request may be repeated.
   */
  #isStale(error: Error): boolean {
    const connection = this.#connection
    if (!connection?.isReused) return false
    return !this.#isSent || (connection.isUntouched && staleCodes.has(codeOf(rootOf(error))))
  }

  #note(status: number, retryAfter: string | string[] | undefined): void {
    const first = Array.isArray(retryAfter) ? retryAfter[0] : retryAfter
    this.#answer ??= { kind: 'answered', status, retryAfter: first }
  }

  /** Ends the request and closes its connection. */
  #drop(): void {
    this.#end(false)
    this.#connection?.destroy()
  }

  #end(mayKeep: boolean): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    // Wait for the next tick. Then undici has decided whether it keeps the connection, and undici
    // does not treat an error that `ended` throws as an error of the request.
    process.nextTick(() => {
      if (mayKeep && this.#connection !== undefined) this.#pool?.release(this.#connection)
      const answer = this.#answer as CallResult
      this.#callEnd.ended(this.#kept?.addTo(answer) ?? answer)
    })
  }
}

/**
 * Whether the error means that the server responded with status 101. For this status, undici does
 * not call `onResponseStart`.
 */
const isProtocolSwitch = (error: Error): boolean => codeOf(error) === 'ECONNRESET' && error.message === 'bad upgrade'

const notHttp = (): Error =>
  Object.assign(new TypeError('the URL must be an http or https URL'), { code: 'ERR_INVALID_URL' })
