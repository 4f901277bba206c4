import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { clientNetworkOf } from '../../core/network/client-network.ts'

/** Counts the open connections, or the requests in progress, of each client address. */
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
