import { once } from 'node:events'
import net, { type AddressInfo, type Socket } from 'node:net'
import tls, { type TlsOptions } from 'node:tls'

export interface ReceivedRequest {
  /** 1, 2, … in the order in which connections were accepted. */
  readonly connection: number
  readonly method: string
  readonly path: string
  /** In the original case and order. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: string
  /** Head and body. One character is one byte. */
  readonly raw: string
}

export interface Peer {
  readonly number: number
  readonly socket: Socket
  /** Resolves with the next complete request, or undefined if the connection has ended. */
  request(): Promise<ReceivedRequest | undefined>
  send(bytes: string | Buffer): void
  end(): void
  reset(): void
  readonly closed: Promise<void>
}

/** Handles a connection, which stays open when the script returns. */
export type Script = (peer: Peer) => unknown

export interface ScriptedTcpServer {
  readonly port: number
  /** By default, the path is `/hook` and the host is 127.0.0.1. */
  url(path?: string, host?: string): string
  readonly requests: readonly ReceivedRequest[]
  /** Number of connections up to now. With TLS, only those with a finished handshake. */
  connections(): number
  bytes(): number
  received(count: number): Promise<void>
  close(): Promise<void>
}

/** The text of a response. `Content-Length` is added if it is absent. */
export function answer(status: number, headers: Readonly<Record<string, string>> = {}, body = ''): string {
  const lines = Object.entries({ 'Content-Length': String(Buffer.byteLength(body)), ...headers })
  return `HTTP/1.1 ${status} Status\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`
}

/** Responds to the n-th request of a connection with the n-th text. The last text repeats. */
export const answering =
  (...texts: readonly string[]): Script =>
  async peer => {
    for (let index = 0; (await peer.request()) !== undefined; index++) peer.send(texts[index] ?? texts.at(-1) ?? '')
  }

/** Runs `respond` after a request, for responses that are not a fixed text. */
export const afterRequest =
  (respond: (peer: Peer, request: ReceivedRequest) => unknown): Script =>
  async peer => {
    const request = await peer.request()
    if (request !== undefined) await respond(peer, request)
  }

/** Sends data until the client closes the connection. Then reports the number of bytes. */
export const flood =
  (head: string, piece: string) =>
  (sent: (bytes: number) => void): Script =>
    afterRequest(async peer => {
      peer.send(head)
      while (!peer.socket.destroyed) {
        if (!peer.socket.write(piece)) {
          await Promise.race([new Promise(resolve => peer.socket.once('drain', resolve)), peer.closed])
        }
      }
      sent(peer.socket.bytesWritten)
    })

/** Starts a server on 127.0.0.1 that sends exactly the bytes of its script. */
export async function startScriptedServer(script: Script, security?: TlsOptions): Promise<ScriptedTcpServer> {
  const sockets = new Set<Socket>()
  const requests: ReceivedRequest[] = []
  const waiting = new Set<() => void>()
  let accepted = 0
  let bytes = 0

  const accept = (socket: Socket): void => {
    const peer = createPeer(++accepted, socket, request => {
      requests.push(request)
      for (const check of waiting) check()
    })
    socket.on('data', chunk => {
      bytes += chunk.length
    })
    void script(peer)
  }
  const server = security === undefined ? net.createServer(accept) : tls.createServer(security, accept)
  server.on('tlsClientError', () => {})
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    // Tests also check how a client ends its connection, so socket errors are expected.
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const scheme = security === undefined ? 'http' : 'https'

  return {
    port,
    url: (path = '/hook', host = '127.0.0.1') => `${scheme}://${host}:${port}${path}`,
    requests,
    connections: () => accepted,
    bytes: () => bytes,
    received: count =>
      new Promise(resolve => {
        const check = () => {
          if (requests.length < count) return
          waiting.delete(check)
          resolve()
        }
        waiting.add(check)
        check()
      }),
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

function createPeer(number: number, socket: Socket, onRequest: (request: ReceivedRequest) => void): Peer {
  const complete: ReceivedRequest[] = []
  const takers: ((request: ReceivedRequest | undefined) => void)[] = []
  let pending = ''
  const closed = new Promise<void>(resolve => socket.once('close', () => resolve()))

  socket.on('error', () => {})
  socket.on('data', chunk => {
    pending += chunk.toString('latin1')
    for (let parsed = parse(number, pending); parsed !== undefined; parsed = parse(number, pending)) {
      pending = pending.slice(parsed.raw.length)
      onRequest(parsed)
      const taker = takers.shift()
      if (taker === undefined) complete.push(parsed)
      else taker(parsed)
    }
  })
  void closed.then(() => {
    for (const taker of takers) taker(undefined)
  })

  return {
    number,
    socket,
    request() {
      const next = complete.shift()
      if (next !== undefined || socket.destroyed) return Promise.resolve(next)
      return new Promise(resolve => takers.push(resolve))
    },
    send: bytes => void socket.write(bytes),
    end: () => void socket.end(),
    reset: () => void socket.resetAndDestroy(),
    closed,
  }
}

/** Undefined if the request is incomplete. */
function parse(connection: number, bytes: string): ReceivedRequest | undefined {
  const headEnd = bytes.indexOf('\r\n\r\n')
  if (headEnd < 0) return undefined
  const [requestLine = '', ...lines] = bytes.slice(0, headEnd).split('\r\n')
  const [method = '', path = ''] = requestLine.split(' ')
  const headers = lines.map(line => {
    const colon = line.indexOf(':')
    return [line.slice(0, colon), line.slice(colon + 1).trim()] as const
  })
  const length = Number(headers.find(([name]) => name.toLowerCase() === 'content-length')?.[1] ?? 0)
  const raw = bytes.slice(0, headEnd + 4 + length)
  if (raw.length < headEnd + 4 + length) return undefined
  const body = Buffer.from(raw.slice(headEnd + 4), 'latin1').toString()
  return { connection, method, path, headers, body, raw }
}
