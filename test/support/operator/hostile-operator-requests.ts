import { type Chance, createChance } from '../../tools/chaos/seeded-random.ts'
import { type HostileRequest, hostileRequests, systematicRequests } from '../collector/hostile-requests.ts'

interface Options {
  readonly seed: number
  readonly operatorKey: string
  readonly session: Readonly<Record<string, string>>
}

/**
 * Maximum characters of a body before compression: just below the listener's limit. To save time,
 * only some requests may have this size.
 */
const largest = 1_048_576 - 1_024
const large = { first: systematicRequests, every: 5 }
const small = 32_768
const maxPathLength = 1_000

const targets = [
  ...['PUT /v1/destinations/crm', 'PATCH /v1/destinations/crm', 'PUT /v1/sources/web', 'DELETE /v1/destinations/no'],
  ...['POST /v1/regulations', 'POST /v1/audiences/Shoppers/syncs', 'POST /v1/destinations/crm/rotate-secret'],
  ...['POST /v1/session', 'DELETE /v1/session', 'GET /v1/session', 'GET /v1/destinations?q=%00&limit=1e9'],
  ...['GET /console/', 'GET /console/assets/..%2f..%2fpackage.json', 'POST /console/assets/main.js', 'HEAD /console'],
  ...['GET /', 'GET /openapi.json', 'GET /v1/changes?since=99999999999h', 'OPTIONS /console/%ff', 'TRACE /v1/status'],
] as const

const cookies: readonly ((size: number) => string)[] = [
  size => `hookline_session=${'a'.repeat(size)}`,
  size => 'hookline_session=a.b; '.repeat(size / 22),
  size => `hookline_session=${'.'.repeat(size)}`,
  size => `${'; \t'.repeat(size / 3)}hookline_session`,
  size =>
    `hookline_session=${Buffer.from('{"name":"ada","expiresAt":1e400}').toString('base64url')}.${'-'.repeat(size)}`,
]

/**
 * Creates hostile requests by index. Almost all have a valid key or session: otherwise the listener
 * would refuse them before it reads the body.
 */
export function hostileOperatorRequests({ seed, operatorKey, session }: Options): (index: number) => HostileRequest {
  const [largeRequest, smallRequest] = [largest, small].map(size =>
    hostileRequests({ seed, writeKey: operatorKey, largest: size }),
  ) as [(index: number) => HostileRequest, (index: number) => HostileRequest]
  return index => {
    const chance = createChance(seed, `hostile operator ${index}`)
    const isLarge = index < large.first || index % large.every === 0
    const { name, pieces, isWhole } = (isLarge ? largeRequest : smallRequest)(index)
    const target = chance.pick(targets)
    const headers = credentialsOf(chance, { operatorKey, session })
    const [first = Buffer.alloc(0), ...rest] = pieces
    return { name: `${name}, ${target}`, pieces: [redirected(first, target, headers), ...rest], isWhole }
  }
}

function credentialsOf(
  chance: Chance,
  { operatorKey, session }: Omit<Options, 'seed'>,
): Readonly<Record<string, string>> {
  const kind = chance.between(0, 199)
  // Rare, because the listener throttles an address that sends wrong keys.
  if (kind === 0) return { Authorization: 'Bearer wrong' }
  if (kind === 1) return { Cookie: chance.pick(cookies)(chance.between(1, 12_000)) }
  if (kind < 40)
    return { Authorization: `Bearer ${operatorKey}`, Cookie: chance.pick(cookies)(chance.between(1, 12_000)) }
  return kind < 120 ? session : { Authorization: `Bearer ${operatorKey}` }
}

/**
 * Replaces method and path, and adds headers. A very long path is kept, because it is the attack.
 */
function redirected(bytes: Buffer, target: string, headers: Readonly<Record<string, string>>): Buffer {
  const end = bytes.indexOf('\r\n')
  const line = bytes.subarray(0, end).toString('latin1')
  const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const first = line.length > maxPathLength ? line : line.replace(/^\S+ \S+/, target)
  const others = bytes.toString('latin1', end + 2).replace('Authorization: Basic', 'X-Authorization: Basic')
  return Buffer.from(`${first}\r\n${fields.join('')}${others}`, 'latin1')
}
