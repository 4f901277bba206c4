import type { LookupAddress } from 'node:dns'
import http, { type IncomingMessage } from 'node:http'
import net, { isIP, type LookupFunction, type Socket } from 'node:net'
import tls, { type SecureContext } from 'node:tls'
import { judgeConnectResponse } from '../../core/network/judge-proxy-connect-response.ts'
import { partsOf, type UrlParts } from '../../core/network/url.ts'
import type { ProxySettings } from '../../core/settings/settings.ts'
import type { CallPhase } from '../../core/webhook-ports.ts'
import type { ConnectionPhase } from './connection-progress.ts'
import { isLoopbackName } from './dns-resolver.ts'
import { maxHeadBytes } from './http-client-limits.ts'
import { serverNameOf } from './tls-sessions-and-certificate-refusals.ts'

/**
 * A tunnel could not be opened, or cannot be used. `phase` says why:
 * - `proxy`: the proxy failed or refused.
 * - `connect`: the proxy cannot reach the endpoint.
 * - `exchange`: bytes arrived before a request was sent.
 */
export class TunnelFailure extends Error {
  readonly phase: CallPhase & ('proxy' | 'connect' | 'exchange')
  readonly code: string

  constructor(phase: TunnelFailure['phase'], code: string, message: string, cause?: Error) {
    super(message, { cause })
    this.phase = phase
    this.code = code
  }
}

/** A tunnel through the proxy, while it is being opened. */
export interface OpeningTunnel {
  /** The current phase: `dns`, `proxy` or `tunnel`. */
  readonly phase: ConnectionPhase
  /** Stops the opening of the tunnel. No callback is called afterwards. */
  cancel(): void
}

/**
 * Exactly one of the two callbacks is called, once, after `open` has returned. After `cancel`,
 * neither is called.
 */
export interface TunnelCallbacks {
  /** Called when the socket is connected to the endpoint. */
  onOpen(socket: Socket): void
  onError(error: Error): void
}

/** Opens tunnels to endpoints through the proxy, with the method CONNECT (RFC 9110 9.3.6). */
export interface ProxyTunnels {
  /** Opens a tunnel. `host` is a host name, or an allowed IP address. */
  open(host: string, port: number, callbacks: TunnelCallbacks): OpeningTunnel
}

interface Deps {
  readonly proxy: ProxySettings
  /**
   * Resolves the proxy's own name. Its addresses are not checked, because the operator chose the
   * proxy.
   */
  readonly lookupProxy: LookupFunction
  /** Resolves the names of endpoints to checked addresses. */
  readonly lookup: LookupFunction
  /** How long one address may take to connect before the next one is tried, in milliseconds. */
  readonly attemptTimeout: number
  /** The trusted CAs for a proxy with an https:// URL. */
  readonly secureContext: SecureContext
}

interface Prepared extends Deps {
  readonly url: UrlParts
  /** The headers of each CONNECT request, besides `Host`. */
  readonly headers: readonly string[]
}

export function createProxyTunnels(deps: Deps): ProxyTunnels {
  const prepared = { ...deps, url: partsOf(new URL(deps.proxy.url)), headers: headersFor(deps.proxy) }
  return {
    open: (host, port, callbacks) => new TunnelInProgress(prepared, port, callbacks).start(host),
  }
}

function headersFor({ credentials }: ProxySettings): readonly string[] {
  // Node's default `Connection: close` would close the connection, but the tunnel needs it.
  const headers = ['Connection', 'keep-alive']
  if (credentials === undefined) return headers
  const pair = `${credentials.username.reveal()}:${credentials.password.reveal()}`
  return [...headers, 'Proxy-Authorization', `Basic ${Buffer.from(pair).toString('base64')}`]
}

const keepAliveProbeMs = 1_000

/**
 * Opens one tunnel: looks up the host, connects to the proxy, and reads the response to CONNECT.
 */
class TunnelInProgress implements OpeningTunnel {
  phase: ConnectionPhase = 'proxy'
  readonly #deps: Prepared
  readonly #port: number
  readonly #callbacks: TunnelCallbacks
  #socket: Socket | undefined
  #isOver = false

  constructor(deps: Prepared, port: number, callbacks: TunnelCallbacks) {
    this.#deps = deps
    this.#port = port
    this.#callbacks = callbacks
  }

  start(host: string): this {
    const { proxy, lookup } = this.#deps
    // Always resolve a loopback name here: the proxy would resolve it to the proxy's machine.
    const resolvesHere = isIP(host) === 0 && (proxy.resolve === 'local' || isLoopbackName(host))
    if (resolvesHere) {
      this.phase = 'dns'
      lookup(host, { all: true }, (error, addresses) => {
        if (error !== null) this.#fail(error)
        else this.#connect((addresses as LookupAddress[]).map(({ address }) => address))
      })
    } else {
      this.#connect([host])
    }
    return this
  }

  cancel(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#socket?.destroy()
  }

  /**
   * Requests a tunnel to the first of `hosts`. If the proxy cannot reach this host, or does not
   * respond in time, requests a tunnel to the next host.
   */
  #connect(hosts: readonly string[]): void {
    if (this.#isOver) return
    this.phase = 'proxy'
    const socket = this.#dial()
    socket.setNoDelay(true).setKeepAlive(true, keepAliveProbeMs)
    this.#socket = socket
    const fail = (error: Error) => this.#failAtProxy(error)
    socket.once('error', fail)
    socket.once(this.#deps.url.isTls ? 'secureConnect' : 'connect', () => {
      socket.off('error', fail)
      this.phase = 'tunnel'
      this.#request(socket, hosts)
    })
  }

  #dial(): Socket {
    const { url, lookupProxy: lookup, attemptTimeout: autoSelectFamilyAttemptTimeout, secureContext } = this.#deps
    const { hostname: host, port, isTls } = url
    const options = { host, port, lookup, autoSelectFamily: true, autoSelectFamilyAttemptTimeout }
    if (!isTls) return net.connect(options)
    return tls.connect({ ...options, servername: serverNameOf(host), secureContext, rejectUnauthorized: true })
  }

  #request(socket: Socket, hosts: readonly string[]): void {
    const [host = '', ...others] = hosts
    const authority = `${isIP(host) === 6 ? `[${host}]` : host}:${this.#port}`
    const request = http.request({
      method: 'CONNECT',
      path: authority,
      headers: ['Host', authority, ...this.#deps.headers],
      maxHeaderSize: maxHeadBytes,
      createConnection: () => socket,
    })
    const skip = () => {
      this.#connect(others)
      socket.destroy()
    }
    if (others.length > 0) socket.setTimeout(this.#deps.attemptTimeout).once('timeout', skip)
    request.on('error', error => {
      // The error of a skipped address must not end the tunnel to the next one.
      if (socket === this.#socket) this.#failAtProxy(error)
    })
    // Node emits `connect` for a response of any status.
    request.once('connect', (response: IncomingMessage, _socket, head: Buffer) => {
      socket.setTimeout(0).off('timeout', skip)
      if (socket === this.#socket) this.#receive(response, socket, head, others)
    })
    request.end()
  }

  #receive(response: IncomingMessage, socket: Socket, head: Buffer, others: readonly string[]): void {
    if (this.#isOver) return
    const { statusCode = 0, statusMessage = '', headers } = response
    const verdict = judgeConnectResponse(statusCode, String(headers['proxy-status'] ?? ''))
    if (verdict === 'open') {
      if (head.length > 0) {
        // Servers send nothing before a request. The HTTP client `got` would parse the bytes in
        // `head` as the response, and `undici` would open new tunnels until the deadline.
        this.#fail(
          new TunnelFailure(
            'exchange',
            'HPE_INVALID_RESPONSE',
            'the server sent data before Hookline sent the request',
          ),
        )
        return
      }
      this.#isOver = true
      this.#callbacks.onOpen(socket)
      return
    }
    socket.destroy()
    if (verdict === 'endpoint_unreachable' && others.length > 0) {
      this.#connect(others)
      return
    }
    const answer = `the proxy responded with ${statusCode} ${statusMessage} to CONNECT`
    this.#fail(
      verdict === 'endpoint_unreachable'
        ? new TunnelFailure(
            'connect',
            'ERR_PROXY_UNREACHABLE_ENDPOINT',
            `${answer}: the proxy cannot reach the endpoint`,
          )
        : new TunnelFailure('proxy', 'ERR_PROXY_RESPONSE', answer),
    )
  }

  #failAtProxy(error: Error): void {
    const { host } = this.#deps.url
    const code = String((error as NodeJS.ErrnoException).code ?? error.name)
    const messages = error instanceof AggregateError ? error.errors.map((one: Error) => one.message) : [error.message]
    this.#fail(new TunnelFailure('proxy', code, `proxy ${host}: ${messages.join('; ')}`, error))
  }

  #fail(error: Error): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#socket?.destroy()
    this.#callbacks.onError(error)
  }
}
