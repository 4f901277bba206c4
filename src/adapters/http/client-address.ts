import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { clientNetworkOf } from '../../core/network/client-network.ts'

/**
 * The address of the client: the last one in the proxy's header (a client can forge earlier ones),
 * otherwise that of the socket. IPv6 addresses are reduced to /64.
 */
export function clientAddressOf({ headers, socket }: IncomingMessage, header: string | undefined): string {
  const values = header === undefined ? undefined : headers[header.toLowerCase()]
  const last = [values].flat().at(-1)?.split(',').at(-1)?.trim() ?? ''
  return clientNetworkOf(withoutPort(last)) ?? socketAddressOf(socket)
}

/** The address by which limits identify a client that connects without a proxy. */
export const socketAddressOf = ({ remoteAddress }: Socket): string => clientNetworkOf(remoteAddress ?? '') ?? 'unknown'

/**
 * Removes a port, which some load balancers write, as in `192.0.2.1:1234` and `[2001:db8::1]:1234`.
 */
function withoutPort(text: string): string {
  const bracketed = /^\[(.+)\](?::\d+)?$/.exec(text)?.[1]
  return bracketed ?? text.replace(/^([\d.]+):\d+$/, '$1')
}
