import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, connect, type Socket } from 'node:net'
import type { ServerTls } from './http-endpoint.ts'

export interface ConnectRequest {
  /** Host and port of the request line, for example `203.0.113.7:443`. */
  readonly authority: string
  readonly headers: IncomingMessage['headers']
}

export type Intercept = (socket: Socket, request: ConnectRequest) => unknown

export interface ConnectProxyOptions {
  /** With this certificate, clients connect to the proxy over TLS. */
  readonly tls?: ServerTls
  /** The response when the tunnel is open. Each text is a separate write. */
  readonly established?: readonly string[]
  /** Returns undefined if the proxy should handle the request. */
  readonly intercept?: (request: ConnectRequest) => Intercept | undefined
}

export interface ConnectProxy {
  readonly port: number
  /** `http://127.0.0.1:port`, or `https://…` with TLS. */
  readonly url: string
  readonly requests: readonly ConnectRequest[]
  connections(): number
  received(count: number): Promise<void>
  idle(): Promise<void>
  cut(): void
  reset(): void
  close(): Promise<void>
}

export const refusing =
  (status: number, headers: Readonly<Record<string, string>> = {}): Intercept =>
  socket => {
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
    socket.end(`HTTP/1.1 ${status} Refused\r\n${lines.join('')}Content-Length: 0\r\n\r\n`)
  }

/**
 * Starts an HTTP proxy for CONNECT. Whatever host a request names, the proxy connects to 127.0.0.1.
 */
export async function startConnectProxy({
  tls,
  established = ['HTTP/1.1 200 Connection established\r\n\r\n'],
  intercept,
}: ConnectProxyOptions = {}): Promise<ConnectProxy> {
  const requests: ConnectRequest[] = []
  const clients = new Set<Socket>()
  const waiting = new Set<() => void>()
  const changed = (): void => {
    for (const check of waiting) check()
  }
  const when = (isTrue: () => boolean): Promise<void> =>
    new Promise(resolve => {
      const check = () => {
        if (!isTrue()) return
        waiting.delete(check)
        resolve()
      }
      waiting.add(check)
      check()
    })

  const server = tls === undefined ? createServer() : createTlsServer(tls)
  server.on('connection', (client: Socket) => {
    clients.add(client)
    client.on('error', () => {})
    client.on('close', () => {
      clients.delete(client)
      changed()
    })
  })
  server.on('connect', ({ url = '', headers }: IncomingMessage, client: Socket, head: Buffer) => {
    const request = { authority: url, headers }
    requests.push(request)
    changed()
    client.on('error', () => {})
    const own = intercept?.(request)
    if (own === undefined) {
      openTunnel(client, url, head, established)
    } else {
      // An unread socket does not report its end. Node's HTTP server does not close its side of
      // CONNECT connections.
      client.resume()
      client.on('end', () => client.end())
      own(client, request)
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo

  return {
    port,
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    requests,
    connections: () => clients.size,
    received: count => when(() => requests.length >= count),
    idle: () => when(() => clients.size === 0),
    cut() {
      for (const client of clients) client.destroy()
    },
    reset() {
      for (const client of clients) client.resetAndDestroy()
    },
    async close() {
      server.close()
      for (const client of clients) client.destroy()
      await once(server, 'close')
    },
  }
}

function openTunnel(client: Socket, authority: string, head: Buffer, established: readonly string[]): void {
  const upstream = connect(Number(authority.split(':').at(-1)), '127.0.0.1')
  let isOpen = false
  upstream.once('connect', () => {
    isOpen = true
    void writeAll(client, established).then(() => {
      upstream.write(head)
      client.pipe(upstream).pipe(client)
    })
  })
  upstream.on('error', () => {
    if (isOpen) client.resetAndDestroy()
    else refusing(502)(client, { authority, headers: {} })
  })
  upstream.on('close', () => client.destroySoon())
  client.on('close', () => upstream.destroy())
}

/** Writes each text in a separate iteration of the event loop. */
async function writeAll(socket: Socket, texts: readonly string[]): Promise<void> {
  for (const text of texts) {
    socket.write(text)
    await new Promise(resolve => setImmediate(resolve))
  }
}
