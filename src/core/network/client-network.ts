import ipaddr from 'ipaddr.js'

const { IPv4, IPv6 } = ipaddr

/**
 * Returns the network of a client: an IPv4 address, or the first 64 bits of an IPv6 address,
 * because one client may own a whole /64 block. Limits per client count a network as one client.
 * `undefined` when `text` is not an IP address.
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
