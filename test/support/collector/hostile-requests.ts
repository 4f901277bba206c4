import { gzipSync } from 'node:zlib'
import { type Chance, createChance } from '../../tools/chaos/seeded-random.ts'
import { basic, chunk, type Fields, post } from '../network/http-request-bytes.ts'
import { connect } from '../network/raw-http-client.ts'
import { type HostileBody, hostileBodies } from './hostile-bodies.ts'

export interface HostileRequest {
  readonly name: string
  readonly pieces: readonly Buffer[]
  /** Whether the request is complete. The client resets the connection of an incomplete request. */
  readonly isWhole: boolean
}

interface Options {
  readonly seed: number
  readonly writeKey: string
  /** Maximum characters of a body before compression. */
  readonly largest?: number
}

const mebibyte = 1_048_576
const paths = ['/v1/batch', '/v1/batch', '/v1/track', '/v1/page', '/v1/import', '/v1/identify']

const placements = ['none', 'header', 'header', 'query', 'wrong', 'body'] as const
type Placement = (typeof placements)[number]
type Make = (size: number, chance: Chance, where: Placement) => Omit<HostileRequest, 'name'>

/**
 * Creates hostile requests by index. The lowest indexes have every shape (kind of body, compression
 * or framing) in its largest form. The others are random.
 */
export function hostileRequests({
  seed,
  writeKey,
  largest = 4 * mebibyte - 1_024,
}: Options): (index: number) => HostileRequest {
  const shapes = shapesOf(writeKey)
  return index => {
    const chance = createChance(seed, `hostile ${index}`)
    const isSystematic = index < systematicRequests
    const [shape, make] = isSystematic ? shapes[index >> 1]! : chance.pick(shapes)
    const where = isSystematic ? (['none', 'header'] as const)[index % 2]! : chance.pick(placements)
    // The sizes are uniformly distributed on a logarithmic scale.
    const size = isSystematic ? largest : Math.floor(1_000 * (largest / 1_000) ** (chance.between(0, 1_000) / 1_000))
    return { name: `${index}: ${shape}, key: ${where}, ${size}`, ...make(size, chance, where) }
  }
}

function shapesOf(writeKey: string): readonly (readonly [name: string, make: Make])[] {
  const compressed =
    (make: (size: number) => Buffer): Make =>
    (size, _, where) =>
      whole(post(`/v1/track${queryOf(where, writeKey)}`, headersOf(where, writeKey), make(size)))
  const framed =
    (make: (typeof framings)[string]): Make =>
    (size, chance, where) =>
      withHeaders(make(size, chance), headersOf(where, writeKey))
  return [
    ...Object.entries(hostileBodies).map(([name, body]) => [name, sent(body, writeKey)] as const),
    ...Object.entries(packings).map(([name, make]) => [name, compressed(make)] as const),
    ...Object.entries(framings).map(([name, make]) => [name, framed(make)] as const),
  ]
}

const whole = (...pieces: readonly Buffer[]) => ({ pieces, isWhole: true })

const headersOf = (where: Placement, writeKey: string): Readonly<Record<string, string>> => ({
  ...(where === 'header' && { Authorization: basic(writeKey) }),
  ...(where === 'wrong' && { 'X-Write-Key': 'wrong' }),
})

const queryOf = (where: Placement, writeKey: string): string =>
  where === 'query' ? `?writeKey=${encodeURIComponent(writeKey)}` : ''

function withHeaders(
  { pieces, isWhole }: Omit<HostileRequest, 'name'>,
  headers: Readonly<Record<string, string>>,
): Omit<HostileRequest, 'name'> {
  const [first = '', ...others] = pieces
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const text = first.toString('latin1').replace('Host: c\r\n', line => line + lines.join(''))
  return { pieces: [Buffer.from(text, 'latin1'), ...others], isWhole }
}

function sent(make: HostileBody, writeKey: string): Make {
  return (size, chance, where) => {
    const body = make(size, chance)
    const isText = typeof body === 'string' && body.startsWith('{')
    const keyed = where === 'body' && isText ? `{"writeKey":${JSON.stringify(writeKey)},${body.slice(1)}` : body
    const headers: Fields = {
      ...headersOf(where, writeKey),
      ...(chance.between(0, 9) === 0 && { 'X-Strict-Mode': '1' }),
    }
    const path = chance.pick(paths) + queryOf(where, writeKey)
    return whole(post(path, headers, chance.between(0, 4) === 0 ? Buffer.from(keyed) : gzipSync(keyed, { level: 1 })))
  }
}

const packings: Readonly<Record<string, (size: number) => Buffer>> = {
  'a gzip bomb': size => gzipSync(Buffer.alloc(8 * size, '[')),
  'a gzip bomb in many members': size =>
    Buffer.concat(Array(Math.ceil(size / 32_768)).fill(gzipSync(Buffer.alloc(65_536, '{')))),
  'gzip in gzip': size => gzipSync(gzipSync(Buffer.alloc(4 * size, ' '))),
  'gzip that is cut off': size => gzipSync(Buffer.alloc(size, '[{}]')).subarray(0, -9),
  'gzip that is damaged': size => {
    const bytes = gzipSync(Buffer.alloc(size, '[{}]'))
    bytes[bytes.length >> 1] = 0xff
    return bytes
  },
  'gzip of nothing': () => gzipSync(''),
}

const head = (lines: string): Buffer => Buffer.from(`POST /v1/batch HTTP/1.1\r\nHost: c\r\n${lines}\r\n\r\n`, 'latin1')

const framings: Readonly<Record<string, (size: number, chance: Chance) => Omit<HostileRequest, 'name'>>> = {
  'two framings': () => whole(head('Content-Length: 6\r\nTransfer-Encoding: chunked'), Buffer.from('0\r\n\r\nG')),
  'two lengths': () => whole(head('Content-Length: 2\r\nContent-Length: 3'), Buffer.from('{}x')),
  'an unknown transfer coding': (_, chance) =>
    whole(head(`Transfer-Encoding: ${chance.pick(['xchunked', 'chunked, gzip', '\vchunked'])}`)),
  'a folded header': () => whole(head('X-A: b\r\n Content-Length: 2'), Buffer.from('{}')),
  'a chunk with a wrong length': () => whole(head('Transfer-Encoding: chunked'), Buffer.from('5\r\nabc\r\n0\r\n\r\n')),
  'a chunk length that overflows': () =>
    whole(head('Transfer-Encoding: chunked'), Buffer.from('fffffffffffffffff\r\n')),
  'one huge header': size => whole(head(`X-A: ${'a'.repeat(Math.min(size, 65_536))}`)),
  'many headers': size =>
    whole(head(Array.from({ length: Math.min(size, 3_000) }, (_, index) => `X-${index}: a`).join('\r\n'))),
  'a huge path': size =>
    whole(Buffer.from(`POST /v1/${'a'.repeat(Math.min(size, 65_536))} HTTP/1.1\r\nHost: c\r\n\r\n`)),
  'a length that is too large': () => whole(head('Content-Length: 99999999999')),
  'tiny chunks': size =>
    whole(
      head('Transfer-Encoding: chunked'),
      Buffer.concat(Array(Math.min(size, 70_000)).fill(chunk('{'))),
      Buffer.from('0\r\n\r\n'),
    ),
  'a body that never ends': size => ({
    pieces: [head(`Content-Length: ${size}`), Buffer.alloc(size >> 1, '[')],
    isWhole: false,
  }),
  'chunks that never end': size => ({
    pieces: [head('Transfer-Encoding: chunked'), chunk(Buffer.alloc(size >> 1, '{'))],
    isWhole: false,
  }),
  'CONNECT behind a request': () => ({
    pieces: [head('Content-Length: 2'), Buffer.from('{}CONNECT c:1 HTTP/1.1\r\nHost: c\r\n\r\n')],
    isWhole: false,
  }),
  'a head that never ends': () => ({
    pieces: [Buffer.from('POST /v1/batch HTTP/1.1\r\nHost: c\r\nX-A')],
    isWhole: false,
  }),
}

/** Number of the requests that are not random: two for each shape. */
export const systematicRequests = 2 * shapesOf('').length

/**
 * Sends requests. Resolves with the status of each complete request by name: 0 without a response.
 * Rejects when the port refuses connections.
 */
export async function sendHostile(
  url: string,
  request: (index: number) => HostileRequest,
  { from = 0, to, concurrency }: { readonly from?: number; readonly to: number; readonly concurrency: number },
): Promise<ReadonlyMap<string, number>> {
  const statuses = new Map<string, number>()
  let next = from
  const worker = async (): Promise<void> => {
    for (let index = next++; index < to; index = next++) {
      const { name, pieces, isWhole } = request(index)
      const wire = await connect(url)
      for (const piece of pieces) await wire.send(piece)
      if (isWhole) {
        wire.end()
        const answer = await wire.answer().catch(() => undefined)
        statuses.set(name, answer?.status ?? 0)
      }
      wire.reset()
    }
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
  return statuses
}
