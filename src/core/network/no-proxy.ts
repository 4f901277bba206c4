import { type Cidr, isWithin, literalAddress, parseCidr } from './allowed-addresses.ts'
import { parseUrl } from './url.ts'

/** One parsed entry of `network.proxy.noProxy`. Names are in lower case and in Punycode. */
type Entry =
  | { readonly kind: 'block'; readonly block: Cidr }
  | { readonly kind: 'host'; readonly name: string }
  /** `suffix` begins with a dot. */
  | { readonly kind: 'domain'; readonly suffix: string }

/** Why a text is not allowed as an entry of `noProxy`; `undefined` when it is allowed. */
export function refuseNoProxyEntry(text: string): string | undefined {
  if (parseEntry(text) !== undefined) return undefined
  if (text.startsWith('*'))
    return 'must not contain *: a leading dot, such as .example.com, selects all hosts of a domain'
  return 'must be a host name, a domain with a leading dot such as .example.com, or an address or a block such as 10.0.0.0/8'
}

/**
 * Returns a function that tests whether a host matches an entry. An address block matches only
 * hosts that are IP addresses, because names are not resolved here.
 * @throws RangeError that names the first invalid entry
 */
export function createNoProxy(texts: readonly string[]): (host: string) => boolean {
  const entries = texts.map((text, index) => {
    const entry = parseEntry(text)
    if (entry === undefined) throw new RangeError(`network.proxy.noProxy[${index}]: ${JSON.stringify(text)} is invalid`)
    return entry
  })
  const blocks = entries.flatMap(entry => (entry.kind === 'block' ? [entry.block] : []))
  const hosts = new Set(entries.flatMap(entry => (entry.kind === 'host' ? [entry.name] : [])))
  const suffixes = entries.flatMap(entry => (entry.kind === 'domain' ? [entry.suffix] : []))
  return host => {
    const name = withoutRootDot(host.toLowerCase())
    return hosts.has(name) || suffixes.some(suffix => name.endsWith(suffix)) || isWithin(host, blocks)
  }
}

function parseEntry(text: string): Entry | undefined {
  const block = parseCidr(text)
  if (block !== undefined) return { kind: 'block', block }
  const isDomain = text.startsWith('.')
  const name = hostName(isDomain ? text.slice(1) : text)
  if (name === undefined) return undefined
  return isDomain ? { kind: 'domain', suffix: `.${name}` } : { kind: 'host', name }
}

/** Returns a host name as the URL parser writes it; `undefined` if `text` is not a host name. */
function hostName(text: string): string | undefined {
  if (!/^[^\s\p{Cc}/\\:@?#*%[\].][^\s\p{Cc}/\\:@?#*%[\]]*$/u.test(text) || text.includes('..')) return undefined
  const url = parseUrl(`http://${text}`)
  return url === undefined || literalAddress(url) !== undefined ? undefined : withoutRootDot(url.hostname)
}

const withoutRootDot = (name: string): string => name.replace(/\.$/, '')
