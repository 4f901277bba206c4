import ipaddr from 'ipaddr.js'

const { IPv4, IPv6 } = ipaddr

/**
 * Returns the network of a client's address. Limits per client count all addresses of one network
 * together. For IPv4, the network is the address itself. For IPv6, it is the first 64 bits of the
 * address, because one client may own a whole /64 block. `undefined` when `text` is not an IP
 * address.
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
