import net, { isIP, type Socket } from 'node:net'
import tls from 'node:tls'
import { type buildConnector, Client, type Dispatcher } from 'undici'
import { idleTimeoutMs, maxHeadBytes } from './client-limits.ts'
import { type ConnectionPhase, followProgress, type Progress } from './connection-progress.ts'
import type { DialPolicy } from './dial.ts'
import { ResponseFilter } from './response-filter.ts'

/**
 * A target of connections and the state kept for it. Origins come from the configuration only, so
 * they are few.
 */
export interface ConnectionOrigin {
  readonly url: URL
  readonly host: string
  readonly port: number
  readonly isTls: boolean
  /**
   * Idle connections, used last in, first out, so that surplus connections reach their maximum age.
   */
  readonly idle: UndiciConnection[]
  /** The last TLS session. Resuming it saves the expensive half of a handshake. */
  session: Buffer | undefined
}

interface Deps {
  readonly policy: DialPolicy
  readonly monotonic: () => number
  readonly onOpen: () => void
  readonly onClose: (connection: UndiciConnection) => void
}

/**
 * HTTP/1.1 only, one request at a time, and no timeouts of undici: each request has its own
 * deadline.
 */
const options = {
  allowH2: false,
  pipelining: 1,
  maxHeaderSize: maxHeadBytes,
  headersTimeout: 0,
  bodyTimeout: 0,
  keepAliveTimeout: idleTimeoutMs,
  keepAliveMaxTimeout: idleTimeoutMs,
  // Without this, an environment variable could select a response parser that our tests do not
  // cover.
  useMilo: false,
} as const
const keepAliveProbeMs = 1_000

/**
 * One connection, made of an undici client that handles one request at a time. If the server has
 * closed the connection while it was idle, and undici notices before it sends anything, undici
 * reconnects by itself.
 */
export class UndiciConnection {
  readonly origin: ConnectionOrigin
  readonly #deps: Deps
  readonly #client: Client
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
   * Sends a request. Call it only after the previous request has ended. Errors that the handler
   * throws are lost.
   */
  send(request: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    this.#client.dispatch(request, handler)
  }

  /** Called when the request is being sent. */
  expectAnswer(): void {
    this.#responseFilter?.expectAnswer()
  }

  /** Marks the connection as used. From now on the server may have closed it while it was idle. */
  noteReuse(): void {
    this.#isReused = true
  }

  get isReused(): boolean {
    return this.#isReused
  }

  /** No byte has arrived for the current request. */
  get isUntouched(): boolean {
    return this.#responseFilter?.isUntouched ?? true
  }

  /**
   * The step of the connection. Before the connection opens, an error is about the request, not
   * about the connection.
   */
  get phase(): ConnectionPhase {
    return this.#progress?.phase ?? 'exchange'
  }

  /** Milliseconds since the connection was opened. */
  get age(): number {
    return this.#deps.monotonic() - (this.#progress?.dialledAt ?? Number.NEGATIVE_INFINITY)
  }

  get isOpen(): boolean {
    return this.#socket?.destroyed === false
  }

  /** Whether the connection is open and everything written to it was sent. */
  get isClean(): boolean {
    return this.isOpen && this.#socket?.writableLength === 0
  }

  /** Closes the connection immediately, also with a request in progress. */
  drop(): void {
    // Both are needed. Destroying only the client would let a connection attempt continue;
    // destroying only the socket would let a waiting request reconnect.
    void this.#client.destroy()
    this.#socket?.destroy()
  }

  #dial(onEnd: buildConnector.Callback): void {
    const { policy, monotonic, onOpen, onClose } = this.#deps
    const { host, port, isTls } = this.origin
    const refusal = policy.refuse(host, port)
    if (refusal !== undefined) {
      process.nextTick(onEnd, refusal, null)
      return
    }
    const socket = this.#connect()
    socket.setNoDelay(true).setKeepAlive(true, keepAliveProbeMs)
    this.#socket = socket
    this.#responseFilter = new ResponseFilter(socket)
    this.#progress = followProgress(socket, host, isTls, monotonic())
    this.#isReused = false
    const fail = (error: Error) => {
      // The server may have rejected the resumed TLS session.
      this.origin.session = undefined
      onEnd(error, null)
    }
    socket.once('error', fail)
    socket.once(isTls ? 'secureConnect' : 'connect', () => {
      socket.off('error', fail)
      onEnd(null, socket)
    })
    onOpen()
    socket.once('close', () => onClose(this))
  }

  #connect(): Socket {
    const { policy } = this.#deps
    const { origin } = this
    const { host, port } = origin
    if (!origin.isTls) return net.connect({ ...policy.connect, host, port })
    const socket = tls.connect({
      ...policy.connect,
      host,
      port,
      servername: isIP(host) === 0 ? host : '',
      ALPNProtocols: ['http/1.1'],
      ...(origin.session === undefined ? {} : { session: origin.session }),
    })
    // A resumed session skips the check of the host name, so only a session that passed the check
    // is kept.
    let latest: Buffer | undefined
    const keep = () => {
      if (socket.authorized && latest !== undefined) origin.session = latest
    }
    socket.once('secureConnect', keep)
    socket.on('session', session => {
      latest = session
      keep()
    })
    return socket
  }
}
