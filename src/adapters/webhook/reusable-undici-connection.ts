import net, { type Socket } from 'node:net'
import tls from 'node:tls'
import { type buildConnector, Client, type Dispatcher } from 'undici'
import { type ConnectionPhase, followProgress, type Progress } from './connection-progress.ts'
import type { ConnectionRules } from './connection-rules.ts'
import { idleTimeoutMs, maxHeadBytes } from './http-client-limits.ts'
import type { OpeningTunnel } from './proxy-tunnel.ts'
import { serverNameOf, type TlsEndpoints } from './tls-sessions-and-certificate-refusals.ts'
import { ResponseFilter } from './undici-response-filter.ts'

/**
 * A scheme, host and port, with the state of their connections. The URLs in the configuration have
 * few origins, so none is removed from memory.
 */
export interface ConnectionOrigin {
  readonly url: URL
  readonly host: string
  readonly port: number
  readonly isTls: boolean
  /**
   * Idle connections. The last one is reused first, so that surplus ones reach the idle timeout.
   */
  readonly idle: UndiciConnection[]
}

interface Deps {
  readonly rules: ConnectionRules
  readonly endpoints: TlsEndpoints
  readonly monotonic: () => number
  readonly onOpen: () => void
  readonly onClose: (connection: UndiciConnection) => void
}

/** undici's options. Its request timeouts are off: Hookline sets a deadline for each request. */
const options = {
  allowH2: false,
  pipelining: 1,
  maxHeaderSize: maxHeadBytes,
  headersTimeout: 0,
  bodyTimeout: 0,
  keepAliveTimeout: idleTimeoutMs,
  keepAliveMaxTimeout: idleTimeoutMs,
  // Otherwise an environment variable could select a response parser that is not tested.
  useMilo: false,
} as const
const keepAliveProbeMs = 1_000

/**
 * One connection: an undici client that handles one request at a time. undici reconnects by itself
 * if it notices before a request that the idle connection is closed.
 */
export class UndiciConnection {
  readonly origin: ConnectionOrigin
  readonly #deps: Deps
  readonly #client: Client
  /** The last tunnel through the proxy for this connection. */
  #tunnel: OpeningTunnel | undefined
  #socket: Socket | undefined
  #responseFilter: ResponseFilter | undefined
  #progress: Progress | undefined
  #isReused = false

  constructor(origin: ConnectionOrigin, deps: Deps) {
    this.origin = origin
    this.#deps = deps
    this.#client = new Client(origin.url, { ...options, connect: (_options, onEnd) => this.#dial(onEnd) })
  }

  /**
   * Sends a request. Call it only when the previous request has ended. Errors that the handler
   * throws are lost.
   */
  send(request: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    this.#client.dispatch(request, handler)
  }

  /**
   * Prepares the response filter. Call it when undici begins to send the request: all later bytes
   * belong to the response.
   */
  expectAnswer(): void {
    this.#responseFilter?.expectAnswer()
  }

  /** Call it when the connection is kept for reuse. From then on, the server may close it. */
  markReusable(): void {
    this.#isReused = true
  }

  get isReused(): boolean {
    return this.#isReused
  }

  /**
   * Whether no byte of the current response has arrived. If a request on a reused connection then
   * fails, it may be repeated, because the server may have closed the connection before the request
   * arrived.
   */
  get isUntouched(): boolean {
    return this.#responseFilter?.isUntouched ?? true
  }

  /**
   * The phase of the connection. Without a connection attempt it is `exchange`, because an error is
   * then about the request.
   */
  get phase(): ConnectionPhase {
    return this.#progress?.phase ?? this.#tunnel?.phase ?? 'exchange'
  }

  /** Milliseconds since the connection attempt began. */
  get age(): number {
    return this.#deps.monotonic() - (this.#progress?.dialledAt ?? Number.NEGATIVE_INFINITY)
  }

  get isOpen(): boolean {
    return this.#socket?.destroyed === false
  }

  /** Whether the connection is open, and everything written to it was sent. */
  get isClean(): boolean {
    return this.isOpen && this.#socket?.writableLength === 0
  }

  /** Closes the connection immediately, even during a request. */
  destroy(): void {
    // All three calls are needed. The first call alone would let an attempt to connect continue.
    // Without the first call, a waiting request would reconnect.
    void this.#client.destroy()
    this.#tunnel?.cancel()
    this.#socket?.destroy()
  }

  #dial(onEnd: buildConnector.Callback): void {
    const { rules, endpoints } = this.#deps
    const { host, port, isTls } = this.origin
    const refusal = rules.refuse(host, port) ?? (isTls ? endpoints.refuse(host, port) : undefined)
    if (refusal !== undefined) {
      process.nextTick(onEnd, refusal, null)
      return
    }
    const tunnels = rules.tunnelsFor(host)
    if (tunnels === undefined) {
      this.#use(this.#connect(undefined), false, onEnd)
      return
    }
    this.#progress = undefined
    this.#isReused = false
    this.#tunnel = tunnels.open(host, port, {
      onOpen: socket => this.#use(isTls ? this.#connect(socket) : socket, true, onEnd),
      onError: error => onEnd(error, null),
    })
  }

  #use(socket: Socket, isTunnelled: boolean, onEnd: buildConnector.Callback): void {
    const { monotonic, onOpen, onClose } = this.#deps
    const { host, isTls } = this.origin
    socket.setNoDelay(true).setKeepAlive(true, keepAliveProbeMs)
    this.#socket = socket
    this.#responseFilter = new ResponseFilter(socket)
    this.#progress = followProgress(socket, { host, isTls, isTunnelled }, monotonic())
    this.#isReused = false
    const fail = (error: Error) => onEnd(error, null)
    onOpen()
    socket.once('close', () => onClose(this))
    if (isTunnelled && !isTls) {
      onEnd(null, socket)
      return
    }
    socket.once('error', fail)
    socket.once(isTls ? 'secureConnect' : 'connect', () => {
      socket.off('error', fail)
      onEnd(null, socket)
    })
  }

  /** Connects to the endpoint, directly or through a tunnel. */
  #connect(tunnel: Socket | undefined): Socket {
    const { rules, endpoints } = this.#deps
    const { host, port, isTls } = this.origin
    if (!isTls) return net.connect({ ...rules.connect, host, port })
    const socket = tls.connect({
      ...rules.connect,
      ...(tunnel !== undefined && { socket: tunnel }),
      host,
      port,
      servername: serverNameOf(host),
      ALPNProtocols: ['http/1.1'],
      ...endpoints.resume(host, port),
    })
    endpoints.follow(socket, host, port)
    return socket
  }
}
