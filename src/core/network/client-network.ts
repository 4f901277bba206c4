import ipaddr from 'ipaddr.js'

const { IPv4, IPv6 } = ipaddr

/**
 * The network by which a client is counted: an IPv4 address itself, the first 64 bits of an IPv6 address, all of
 * which one client may have. Undefined: `text` is not an IP address.
 */
export function clientNetworkOf(text: string): string | undefined {
  if (IPv4.isValidFourPartDecimal(text)) return text
  if (!IPv6.isValid(text)) return undefined
  const address = ipaddr.process(text)
  return address instanceof IPv6
    ? `${address.parts
        .slice(0, 4)
        .map(part => part.toString(16))
        .join(':')}::/64`
    : address.toString()
}
