import net, { isIP, type Socket } from 'node:net'
import tls from 'node:tls'
import { type buildConnector, Client, type Dispatcher } from 'undici'
import { idleTimeoutMs, maxHeadBytes } from './client-limits.ts'
import { type ConnectionPhase, followProgress, type Progress } from './connection-progress.ts'
import type { DialPolicy } from './dial.ts'
import { Inlet } from './inlet.ts'

/** Where connections go, and what is kept for each such place. Origins come from the configuration only: they are few. */
export interface ConnectionOrigin {
  readonly url: URL
  readonly host: string
  readonly port: number
  readonly isTls: boolean
  /** The last one in is the first one out, so that those that are too many get old. */
  readonly idle: UndiciConnection[]
  /** To take a TLS session up again saves the costly half of a handshake. */
  session: Buffer | undefined
}

interface Deps {
  readonly policy: DialPolicy
  readonly monotonic: () => number
  readonly onOpen: () => void
  readonly onClose: (connection: UndiciConnection) => void
}

/** HTTP/1.1 only, one request at a time, no time-outs: a call has its own deadline. */
const options = {
  allowH2: false,
  pipelining: 1,
  maxHeaderSize: maxHeadBytes,
  headersTimeout: 0,
  bodyTimeout: 0,
  keepAliveTimeout: idleTimeoutMs,
  keepAliveMaxTimeout: idleTimeoutMs,
  // Else a variable of the environment chooses, and answers are read by another parser than the one that is tested.
  useMilo: false,
} as const
const keepAliveProbeMs = 1_000

/**
 * One connection: undici's client, which is one as long as it has one request at a time. When the server has closed it
 * while it was idle, and undici finds out before it has sent anything, it dials anew by itself.
 */
export class UndiciConnection {
  readonly origin: ConnectionOrigin
  readonly #deps: Deps
  readonly #client: Client
  #socket: Socket | undefined
  #inlet: Inlet | undefined
  #progress: Progress | undefined
  #isReused = false

  constructor(origin: ConnectionOrigin, deps: Deps) {
    this.origin = origin
    this.#deps = deps
    this.#client = new Client(origin.url, { ...options, connect: (_options, onEnd) => this.#dial(onEnd) })
  }

  /** One request: only when the one before has ended. What the handler throws is lost. */
  send(request: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    this.#client.dispatch(request, handler)
  }

  /** The request is going out now. */
  expectAnswer(): void {
    this.#inlet?.expectAnswer()
  }

  /** It has answered a request: from now on it may break because the server had closed it. */
  noteReuse(): void {
    this.#isReused = true
  }

  get isReused(): boolean {
    return this.#isReused
  }

  /** Not a byte has come for the present request. */
  get isUntouched(): boolean {
    return this.#inlet?.isUntouched ?? true
  }

  /** Before it is dialled what fails is the request: that is no fault of the connection. */
  get phase(): ConnectionPhase {
    return this.#progress?.phase ?? 'exchange'
  }

  /** Milliseconds since it was dialled. */
  get age(): number {
    return this.#deps.monotonic() - (this.#progress?.dialledAt ?? Number.NEGATIVE_INFINITY)
  }

  get isOpen(): boolean {
    return this.#socket?.destroyed === false
  }

  /** Open, and all that was given to it is sent. */
  get isClean(): boolean {
    return this.isOpen && this.#socket?.writableLength === 0
  }

  /** Ends it at once, whatever it is doing. */
  drop(): void {
    // Alone it would let a dial go on; the socket alone would let a request that waits dial anew.
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
    this.#inlet = new Inlet(socket)
    this.#progress = followProgress(socket, host, isTls, monotonic())
    this.#isReused = false
    const fail = (error: Error) => {
      // It may have been the session that the server did not like.
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
    // A session that is taken up again skips the check of the host name: only one that has passed it may be kept.
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
