import ipaddr from 'ipaddr.js'

const { IPv4, IPv6 } = ipaddr

/**
 * Returns the network that counts as one client: an IPv4 address or an IPv6 /64 block. One client
 * may own the whole block.
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
