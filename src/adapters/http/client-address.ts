import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import { clientNetworkOf } from '../../core/network/client-network.ts'

/**
 * The address that identifies a client for limits: the last address in the proxy's header,
 * otherwise the address of the socket. Only the last address is written by the nearest proxy; a
 * client can forge the others.
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

/** Counts how many connections or requests each address has at present. */
export class AddressCounter {
  readonly #limit: number
  readonly #counts = new Map<string, number>()

  constructor(limit: number) {
    this.#limit = limit
  }

  /**
   * Counts one more connection or request of the address. Returns false, and does not count, when
   * the address is at its maximum.
   */
  enter(address: string): boolean {
    const count = this.#counts.get(address) ?? 0
    if (count >= this.#limit) return false
    this.#counts.set(address, count + 1)
    return true
  }

  leave(address: string): void {
    const count = this.#counts.get(address) ?? 0
    if (count > 1) this.#counts.set(address, count - 1)
    else this.#counts.delete(address)
  }
}

/** Closes new connections of an address that is at its maximum. */
export function limitAddresses(server: Server, addresses: AddressCounter, onRefused = (): void => {}): void {
  server.prependListener('connection', (socket: Socket) => {
    const address = clientNetworkOf(socket.remoteAddress ?? '') ?? 'unknown'
    if (addresses.enter(address)) {
      socket.once('close', () => addresses.leave(address))
      return
    }
    onRefused()
    socket.destroy()
  })
}
