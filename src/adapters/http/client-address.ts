import type { IncomingMessage, Server } from 'node:http'
import { isIP, isIPv6, type Socket } from 'node:net'

/**
 * The address by which a client is counted: the last one in the header that the proxy sets, else the socket's. Whatever precedes
 * the last address was written by others than the nearest proxy.
 */
export function clientAddressOf({ headers, socket }: IncomingMessage, header: string | undefined): string {
  const values = header === undefined ? undefined : headers[header.toLowerCase()]
  const last = [values].flat().at(-1)?.split(',').at(-1)?.trim() ?? ''
  return addressGroup(withoutPort(last)) ?? addressGroup(socket.remoteAddress ?? '') ?? 'unknown'
}

/** An IPv4 address is itself; of an IPv6 address its first 64 bits count, which is what one client gets. Undefined: neither. */
export function addressGroup(text: string): string | undefined {
  const mapped = /^::ffff:([\d.]+)$/i.exec(text)?.[1]
  if (mapped !== undefined && isIP(mapped) === 4) return mapped
  if (isIP(text) === 4) return text
  if (!isIPv6(text)) return undefined
  const [head = '', tail] = text.split('%', 1)[0]?.split('::') ?? []
  const left = partsOf(head)
  const right = partsOf(tail ?? '')
  const zeros = Array.from({ length: 8 - left.length - right.length }, () => '0')
  const first = [...left, ...zeros, ...right].slice(0, 4)
  return `${first.map(part => Number.parseInt(part, 16).toString(16)).join(':')}::/64`
}

/** An IPv4 address at the end has the place of two parts, behind the first 64 bits. */
const partsOf = (text: string): readonly string[] =>
  text === '' ? [] : text.split(':').flatMap(part => (part.includes('.') ? ['0', '0'] : [part]))

/** `192.0.2.1:1234` and `[2001:db8::1]:1234` as some load balancers write them. */
function withoutPort(text: string): string {
  const bracketed = /^\[(.+)\](?::\d+)?$/.exec(text)?.[1]
  return bracketed ?? text.replace(/^([\d.]+):\d+$/, '$1')
}

/** How much each address has at present of what is limited. */
export class AddressCounter {
  readonly #limit: number
  readonly #counts = new Map<string, number>()

  constructor(limit: number) {
    this.#limit = limit
  }

  /** False: the address has its maximum, and is not counted. */
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

/** Closes new connections of an address that has its maximum. */
export function limitAddresses(server: Server, addresses: AddressCounter, onRefused = (): void => {}): void {
  server.prependListener('connection', (socket: Socket) => {
    const address = addressGroup(socket.remoteAddress ?? '') ?? 'unknown'
    if (addresses.enter(address)) {
      socket.once('close', () => addresses.leave(address))
      return
    }
    onRefused()
    socket.destroy()
  })
}
