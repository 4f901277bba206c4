import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { clientNetworkOf } from '../../core/network/client-network.ts'

/**
 * The address by which limits identify a client. It is the last address in the header that a proxy
 * sets: the nearest proxy writes the last address, and a client can forge those before it. Without
 * a valid address in the header, it is the address of the socket. An IPv6 address is reduced to its
 * /64 network.
 */
export function clientAddressOf({ headers, socket }: IncomingMessage, header: string | undefined): string {
  const values = header === undefined ? undefined : headers[header.toLowerCase()]
  const last = [values].flat().at(-1)?.split(',').at(-1)?.trim() ?? ''
  return clientNetworkOf(withoutPort(last)) ?? socketAddressOf(socket)
}

/** The address of a socket, by which limits identify a client without a proxy. */
export const socketAddressOf = ({ remoteAddress }: Socket): string => clientNetworkOf(remoteAddress ?? '') ?? 'unknown'

/**
 * Removes a port, as in `192.0.2.1:1234` and `[2001:db8::1]:1234`, which some load balancers write.
 */
function withoutPort(text: string): string {
  const bracketed = /^\[(.+)\](?::\d+)?$/.exec(text)?.[1]
  return bracketed ?? text.replace(/^([\d.]+):\d+$/, '$1')
}
