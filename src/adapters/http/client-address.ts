import type { IncomingMessage } from 'node:http'
import { clientNetworkOf } from '../../core/network/client-network.ts'

/**
 * The address that identifies a client for limits: the last address in the proxy's header,
 * otherwise the address of the socket. Of an IPv6 address it is the /64 network. Only the last
 * address is written by the nearest proxy; a client can forge the others.
 */
export function clientAddressOf({ headers, socket }: IncomingMessage, header: string | undefined): string {
  const values = header === undefined ? undefined : headers[header.toLowerCase()]
  const last = [values].flat().at(-1)?.split(',').at(-1)?.trim() ?? ''
  return clientNetworkOf(withoutPort(last)) ?? clientNetworkOf(socket.remoteAddress ?? '') ?? 'unknown'
}

/**
 * Removes a port, as in `192.0.2.1:1234` and `[2001:db8::1]:1234`, which some load balancers write.
 */
function withoutPort(text: string): string {
  const bracketed = /^\[(.+)\](?::\d+)?$/.exec(text)?.[1]
  return bracketed ?? text.replace(/^([\d.]+):\d+$/, '$1')
}
