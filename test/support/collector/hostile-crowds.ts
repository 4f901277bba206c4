import { once } from 'node:events'
import net, { type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { type Fields, post, request } from '../network/http-request-bytes.ts'

/** Many equal requests at the same time. One of them alone is harmless. */
export interface HostileCrowd {
  readonly name: string
  readonly connections: number
  /** Number of requests that each connection sends without waiting for a response. */
  readonly pipelined: number
  readonly bytes: Buffer
  /** Whether the clients read the responses. If not, the responses wait in the collector. */
  readonly areRead: boolean
}

const mebibyte = 1_048_576

/**
 * Returns the crowds. Each one is large enough to have crashed an earlier version of the collector.
 */
export function hostileCrowds(writeKey: string): readonly HostileCrowd[] {
  const keyed: Fields = { 'X-Write-Key': writeKey }
  const tree = messageOf(262_144)
  const numbers = `[${Array(10_000).fill(1).join()}]`
  const beside = `"context":[${units(262_000)}],"sentAt":[${units(262_000)}]`
  const spaces = `[${' '.repeat(250_000)}]`
  // 400 of these bodies need more than twice the maximum memory for all bodies.
  const slow = `[${' '.repeat(200_000)}]`
  const wrongKey = `{"writeKey":"wrong",${tree.slice(1)}`.slice(0, -40)
  const read = { pipelined: 1, areRead: true }
  return [
    { ...read, name: 'long messages', connections: 63, bytes: post('/v1/track', keyed, tree) },
    { ...read, name: 'long messages, gzip', connections: 100, bytes: post('/v1/track', keyed, gzipSync(tree)) },
    { ...read, name: 'long messages without a key', connections: 63, bytes: post('/v1/track', {}, tree) },
    { ...read, name: 'long broken messages with a wrong key', connections: 63, bytes: post('/v1/track', {}, wrongKey) },
    {
      ...read,
      name: 'long members beside a batch without a key',
      connections: 16,
      bytes: post('/v1/batch', {}, `{${beside},"batch":[1]}`),
    },
    { ...read, name: 'lists of numbers', connections: 800, bytes: post('/v1/batch', keyed, numbers) },
    { ...read, name: 'lists of numbers, gzip', connections: 800, bytes: post('/v1/batch', keyed, gzipSync(numbers)) },
    { ...read, name: 'spaces, gzip', connections: 2_500, bytes: post('/v1/batch', keyed, gzipSync(spaces)) },
    { ...read, name: 'slow bodies', connections: 400, bytes: post('/v1/batch', keyed, slow) },
    { ...read, name: 'slow bodies without a key', connections: 400, bytes: post('/v1/batch', {}, slow) },
    {
      ...read,
      name: 'rejected messages with long ids',
      connections: 64,
      bytes: post('/v1/batch', keyed, `[{"messageId":"${'\\u0001'.repeat(mebibyte / 24)}"}]`),
    },
    {
      name: 'lists of numbers whose responses are never read',
      connections: 400,
      pipelined: 2,
      bytes: post('/v1/batch', keyed, numbers),
      areRead: false,
    },
    {
      name: 'documents that are never read',
      connections: 400,
      pipelined: 8,
      bytes: Buffer.from('GET /openapi.json HTTP/1.1\r\nHost: collector\r\n\r\n'),
      areRead: false,
    },
    {
      ...read,
      name: 'pipelined requests without a body',
      connections: 150,
      pipelined: 900,
      bytes: Buffer.from('GET / HTTP/1.1\r\nHost: collector\r\n\r\n'),
    },
    {
      ...read,
      name: 'bodies in chunks of one byte without a key',
      connections: 60,
      bytes: Buffer.concat([
        request('POST /v1/batch', { 'Transfer-Encoding': 'chunked' }),
        Buffer.from(`${'1\r\n \r\n'.repeat(mebibyte / 6)}0\r\n\r\n`),
      ]),
    },
  ]
}

const units = (length: number): string => `${'{},'.repeat(length / 3 - 1)}0`

/** A message of exactly this number of characters: a tree of small objects. */
function messageOf(length: number): string {
  const [head, tail] = ['{"type":"track","userId":"u","event":"e","x":[', ']}']
  return (head + units(length - head.length - tail.length - 3)).padEnd(length - tail.length) + tail
}

/** Number of client addresses of a crowd, in the header `X-Forwarded-For`. */
const addresses = 8

/** A crowd that has sent all bytes except the last one of each connection. */
export interface AssembledCrowd {
  /**
   * Sends the last bytes. Resolves with each connection's first status (0 without a response), or
   * an empty list if the clients read no responses.
   */
  finish(): Promise<readonly number[]>
  leave(): void
}

export async function assembleCrowd(url: string, crowd: HostileCrowd): Promise<AssembledCrowd> {
  const { connections, pipelined, bytes, areRead } = crowd
  const { hostname, port } = new URL(url)
  const sockets = await Promise.all(
    Array.from({ length: connections }, async (_, index) => {
      const socket = net.connect({ host: hostname, port: Number(port) })
      await once(socket, 'connect')
      socket.on('error', () => {}).pause()
      const all = Buffer.concat(Array(pipelined).fill(fromAddress(bytes, index % addresses)))
      await new Promise<void>(resolve => void socket.write(all.subarray(0, -1), () => resolve()))
      return { socket, last: all.subarray(-1) }
    }),
  )
  return {
    finish() {
      for (const { socket, last } of sockets) socket.write(last)
      return areRead ? Promise.all(sockets.map(({ socket }) => statusOf(socket))) : Promise.resolve([])
    },
    leave() {
      for (const { socket } of sockets) socket.resetAndDestroy()
    },
  }
}

function fromAddress(bytes: Buffer, address: number): Buffer {
  const end = bytes.indexOf('\r\n') + 2
  return Buffer.concat([
    bytes.subarray(0, end),
    Buffer.from(`X-Forwarded-For: 10.0.0.${address}\r\n`),
    bytes.subarray(end),
  ])
}

/**
 * The status of the first response, or 0 without a response. Reads on until the connection is
 * closed.
 */
function statusOf(socket: Socket): Promise<number> {
  return new Promise(resolve => {
    if (socket.closed) resolve(0)
    socket.once('data', piece => resolve(Number(piece.subarray(9, 12).toString())))
    socket.once('close', () => resolve(0))
    socket.resume()
  })
}
