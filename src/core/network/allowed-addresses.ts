import ipaddr from 'ipaddr.js'
import type { Objection } from '../invalid-value-message-and-hint.ts'

/**
 * One parsed entry of `network.allow`. An IPv4 block in IPv6 notation (`::ffff:10.0.0.0/104`) is
 * stored as the IPv4 block.
 */
export interface Cidr {
  readonly family: 4 | 6
  readonly bytes: readonly number[]
  readonly length: number
}

export type AddressVerdict =
  | { readonly kind: 'allowed' }
  /**
   * `address`: the judged address, or the IPv4 address inside it. `range`: the name of the block
   * that contains `address`. `allowable`: whether `network.allow` can permit `address`.
   */
  | { readonly kind: 'forbidden'; readonly address: string; readonly range: string; readonly allowable: boolean }

type Bytes = readonly number[]
type Named = readonly [block: Cidr, range: string]

const allowed: AddressVerdict = { kind: 'allowed' }
function forbidden(address: string, range: string, allowable: boolean): AddressVerdict {
  return { kind: 'forbidden', address, range, allowable }
}

/**
 * Parses an IP address. Returns `undefined` for other texts, for octal, hexadecimal and short IPv4
 * forms, and for zone ids.
 */
function parseAddress(text: string): Bytes | undefined {
  // The regular expression comes first, because `isValidFourPartDecimal` takes 50 µs for other
  // texts: it creates an error.
  if (/^[\d.]+$/.test(text) && ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text).toByteArray()
  if (text.includes(':') && !text.includes('%') && ipaddr.IPv6.isValid(text))
    return ipaddr.IPv6.parse(text).toByteArray()
  return undefined
}

const textOf = (bytes: Bytes): string => ipaddr.fromByteArray([...bytes]).toString()

function within(bytes: Bytes, { bytes: block, length }: Cidr): boolean {
  if (bytes.length !== block.length) return false
  const whole = length >> 3
  for (let index = 0; index < whole; index += 1) if (bytes[index] !== block[index]) return false
  const rest = length & 7
  return rest === 0 || ((bytes[whole]! ^ block[whole]!) & (0xff << (8 - rest)) & 0xff) === 0
}

/** Whether an IP address is in one of the blocks. */
export function isWithin(ip: string, blocks: readonly Cidr[]): boolean {
  const bytes = blocks.length === 0 ? undefined : parseAddress(ip)
  return bytes !== undefined && blocks.some(cidr => within(bytes, cidr))
}

/**
 * Parses `10.0.0.0/8`, `fd00::/8` or a single address. `undefined` if not valid, or if bits after
 * the prefix are set.
 */
export function parseCidr(text: string): Cidr | undefined {
  const [address = '', digits, ...surplus] = text.split('/')
  const bytes = parseAddress(address)
  if (bytes === undefined || surplus.length > 0 || (digits !== undefined && !/^(0|[1-9]\d{0,2})$/.test(digits))) return
  const length = digits === undefined ? bytes.length * 8 : Number(digits)
  if (length > bytes.length * 8) return
  const cidr: Cidr = { family: bytes.length === 4 ? 4 : 6, bytes, length }
  if (bytes.some((byte, index) => (byte & (0xff >> Math.min(8, Math.max(0, length - index * 8)))) !== 0)) return
  return length >= 96 && within(bytes, mapped) ? { family: 4, bytes: bytes.slice(12), length: length - 96 } : cidr
}

/**
 * Parses `network.allow`. @throws RangeError that names the first entry that is not a CIDR block.
 */
export function parseAllow(list: readonly string[]): readonly Cidr[] {
  return list.map((text, index) => {
    const cidr = parseCidr(text)
    if (cidr === undefined) throw new RangeError(`network.allow[${index}]: ${JSON.stringify(text)} is not a CIDR block`)
    return cidr
  })
}

function block(text: string): Cidr {
  const [address = '', length] = text.split('/')
  const bytes = parseAddress(address) as Bytes
  return { family: bytes.length === 4 ? 4 : 6, bytes, length: Number(length ?? bytes.length * 8) }
}
const table = (rows: Readonly<Record<string, string>>): readonly Named[] =>
  Object.entries(rows).map(([text, name]) => [block(text), `${name}, ${text}`])

const mapped = block('::ffff:0:0/96')

/**
 * Addresses that return credentials of the machine or pod. No entry in `network.allow` permits
 * them.
 */
const metadata = table({
  '169.254.169.254': 'metadata service of AWS, Azure, Google Cloud, Oracle, DigitalOcean and others',
  '169.254.170.2': 'credential service of AWS ECS',
  '169.254.170.23': 'credential service of AWS EKS',
  '169.254.42.42': 'metadata service of Scaleway',
  '169.254.0.23': 'metadata service of Tencent Cloud',
  '100.100.100.200': 'metadata service of Alibaba Cloud',
  '168.63.129.16': 'WireServer of Azure',
  '192.0.0.192': 'metadata service of Oracle Cloud Classic',
  'fd00:ec2::254': 'metadata service of AWS',
  'fd00:ec2::23': 'credential service of AWS EKS',
  'fd20:ce::254': 'metadata service of Google Cloud',
  'fd00:42::42': 'metadata service of Scaleway',
  'fd00:c1::a9fe:a9fe': 'metadata service of Oracle Cloud',
  'fd00:a9fe:a9fe::1': 'metadata service of Akamai',
  'fd00:100::100:200': 'metadata service of Alibaba Cloud',
  'fe80::a9fe:a9fe': 'metadata service of OpenStack',
})

/**
 * Blocks that are not globally reachable (IANA special-purpose registries), and multicast and
 * site-local blocks. The first match names the range.
 */
const special = table({
  '0.0.0.0/8': '"this network"',
  '10.0.0.0/8': 'private',
  '100.64.0.0/10': 'carrier-grade NAT',
  '127.0.0.0/8': 'loopback',
  '169.254.0.0/16': 'link-local',
  '172.16.0.0/12': 'private',
  '192.0.0.0/24': 'IETF protocol assignments',
  '192.0.2.0/24': 'documentation',
  '192.88.99.0/24': '6to4 relays',
  '192.168.0.0/16': 'private',
  '198.18.0.0/15': 'benchmarks',
  '198.51.100.0/24': 'documentation',
  '203.0.113.0/24': 'documentation',
  '224.0.0.0/4': 'multicast',
  '255.255.255.255/32': 'broadcast',
  '240.0.0.0/4': 'reserved',
  '::/128': 'unspecified',
  '::1/128': 'loopback',
  '64:ff9b:1::/48': 'local-use NAT64',
  '100::/64': 'discard-only',
  '2001:2::/48': 'benchmarks',
  '2001::/23': 'IETF protocol assignments',
  '2001:db8::/32': 'documentation',
  '3fff::/20': 'documentation',
  'fc00::/7': 'private (unique local)',
  'fe80::/10': 'link-local',
  'fec0::/10': 'site-local',
  'ff00::/8': 'multicast',
})
const globalUnicast = block('2000::/3')
/**
 * Local-use NAT64 (RFC 8215). `network.allow` can permit it, except addresses that a gateway may
 * translate to a metadata service.
 */
const localNat64 = block('64:ff9b:1::/48')
/**
 * The IPv4 addresses to which a NAT64 gateway may translate an address, for prefixes of 48, 56, 64
 * and 96 bits. Octet 8 is skipped (RFC 6052 2.2).
 */
function translated(bytes: Bytes): readonly Bytes[] {
  const packed = bytes.toSpliced(8, 1)
  return [6, 7, 8, 11].map(first => packed.slice(first, first + 4))
}
const notEmbedding = table({ '::': '', '::1': '' })

/** IPv6 blocks whose addresses contain IPv4 addresses, each with a function that extracts them. */
const embeddingBlocks: readonly (readonly [Cidr, (bytes: Bytes) => readonly Bytes[]])[] = [
  [mapped, bytes => [bytes.slice(12)]],
  [block('::ffff:0:0:0/96'), bytes => [bytes.slice(12)]], // IPv4-translated (RFC 2765)
  [block('::/96'), bytes => [bytes.slice(12)]], // IPv4-compatible
  [block('64:ff9b::/96'), bytes => [bytes.slice(12)]], // NAT64
  [block('2002::/16'), bytes => [bytes.slice(2, 6)]], // 6to4
  // The IPv4 addresses of the server, and of the client with inverted bits (Teredo).
  [block('2001::/32'), bytes => [bytes.slice(4, 8), bytes.slice(12).map(byte => byte ^ 0xff)]],
]

function embeddedAddresses(bytes: Bytes): readonly Bytes[] {
  if (bytes.length === 4 || notEmbedding.some(([single]) => within(bytes, single))) return []
  return embeddingBlocks.find(([prefix]) => within(bytes, prefix))?.[1](bytes) ?? []
}

function judge(bytes: Bytes, allow: readonly Cidr[]): AddressVerdict {
  const inner = embeddedAddresses(bytes)
  if (inner.length > 0) {
    return inner.map(v4 => judge(v4, allow)).find(verdict => verdict.kind === 'forbidden') ?? allowed
  }
  const addresses = within(bytes, localNat64) ? translated(bytes) : [bytes]
  const secret = metadata.find(([address]) => addresses.some(each => within(each, address)))
  if (secret !== undefined) return forbidden(textOf(bytes), secret[1], false)
  if (allow.some(cidr => within(bytes, cidr))) return allowed
  const range = special.find(([cidr]) => within(bytes, cidr))
  if (range !== undefined) return forbidden(textOf(bytes), range[1], true)
  if (bytes.length === 4 || within(bytes, globalUnicast)) return allowed
  return forbidden(textOf(bytes), 'not a global unicast address', true)
}

/**
 * Decides whether a webhook may connect to this address. An IPv6 address that contains an IPv4
 * address is judged by the IPv4 address.
 */
export function classifyAddress(ip: string, allow: readonly Cidr[]): AddressVerdict {
  const bytes = parseAddress(ip)
  return bytes === undefined ? forbidden(ip, 'not a plain IP address', false) : judge(bytes, allow)
}

type Forbidden = AddressVerdict & { readonly kind: 'forbidden' }

/**
 * Returns the error for operators. It says which entry in `network.allow` would permit the address,
 * if one can.
 */
export function objectionTo(ip: string, { address, range, allowable }: Forbidden): Objection {
  const isEmbedded = ip.includes(':') && !address.includes(':')
  const entry = isEmbedded ? `its IPv4 address ${address}` : 'it'
  const hint = allowable
    ? `to permit this address, add ${entry} to network.allow`
    : 'use another address, because network.allow cannot permit this one'
  return { message: `address ${ip} is not allowed (${range})`, hint }
}

/** The text of `objectionTo` in one line. */
export function explainForbidden(ip: string, verdict: Forbidden): string {
  const { message, hint } = objectionTo(ip, verdict)
  return `${message}: ${hint}`
}

/** Returns the host of a URL, without brackets, if it is an IP address; `undefined` otherwise. */
export function literalAddress(url: URL): string | undefined {
  const host = url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname
  return parseAddress(host) === undefined ? undefined : host
}

const usualPorts: readonly number[] = [80, 443]
const firstUnprivileged = 1024

/**
 * Whether a URL may have this port. Without `ports` (`network.ports`), ports 80, 443 and all from
 * 1024 on are allowed.
 */
export function portAllowed(port: number, ports: readonly number[] | undefined): boolean {
  return ports === undefined ? usualPorts.includes(port) || port >= firstUnprivileged : ports.includes(port)
}
