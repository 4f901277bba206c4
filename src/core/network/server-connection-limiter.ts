import { LinkedList, type LinkedListItem } from '../collections/linked-list.ts'

/** What a server does with a new connection. */
export type Admission<Connection> =
  | { readonly kind: 'accepted' }
  /** The server accepts the new connection and closes `idle` for it. */
  | { readonly kind: 'replaces'; readonly idle: Connection }
  /** The address or the whole server is at its maximum. */
  | { readonly kind: 'refused'; readonly maximumOf: 'address' | 'server' }

/**
 * Limits the open connections of a server, and of each client address. When the server is full, a
 * new connection replaces an idle one of the address with the most connections. All addresses with
 * `maxEqualConnections` connections or fewer rank equally. Otherwise, thousands of clients with one
 * connection each would displace a client with two.
 */
export class ConnectionLimiter<Connection> {
  readonly #max: number
  readonly #maxPerAddress: number
  readonly #tracked = new Map<Connection, Tracked<Connection>>()
  readonly #clients = new Map<string, Client<Connection>>()
  /** The clients with an idle connection. Index 3 lists those with three open connections. */
  readonly #byConnections: LinkedList<Client<Connection>>[] = []
  /** All idle connections, the longest idle first. */
  readonly #idle = new LinkedList<Idle<Connection>>()
  /**
   * The index in `#byConnections` from which `#longestIdle` searches downwards. All lists with a
   * higher index are empty.
   */
  #highest = 0
  readonly #maxEqualConnections: number

  constructor(max: number, maxPerAddress: number, maxEqualConnections = 4) {
    this.#max = max
    this.#maxEqualConnections = maxEqualConnections
    this.#maxPerAddress = maxPerAddress < max ? maxPerAddress : Number.POSITIVE_INFINITY
  }

  /**
   * Adds a new connection, or refuses it. The connection is idle until its first request has
   * arrived completely.
   */
  open(connection: Connection, address: string): Admission<Connection> {
    const client = this.#clients.get(address) ?? new Client<Connection>(address)
    if (client.connections >= this.#maxPerAddress) return { kind: 'refused', maximumOf: 'address' }
    this.#count(client, 1)
    const isFull = this.#tracked.size >= this.#max
    const replaced = isFull ? this.#longestIdle() : undefined
    if (isFull && replaced === undefined) {
      this.#count(client, -1)
      return { kind: 'refused', maximumOf: 'server' }
    }
    if (replaced !== undefined) this.close(replaced.connection)
    const tracked = new Tracked(connection, client)
    this.#tracked.set(connection, tracked)
    this.#addIdle(tracked)
    return replaced === undefined ? { kind: 'accepted' } : { kind: 'replaces', idle: replaced.connection }
  }

  /**
   * Notes that a request of the connection has arrived completely. The connection is not idle until
   * `endRequest`.
   */
  startRequest(connection: Connection): void {
    const tracked = this.#tracked.get(connection)
    if (tracked === undefined) return
    tracked.requests += 1
    if (tracked.requests === 1) this.#removeIdle(tracked)
  }

  /** Notes that a complete request was answered. */
  endRequest(connection: Connection): void {
    const tracked = this.#tracked.get(connection)
    if (tracked === undefined) return
    tracked.requests -= 1
    if (tracked.requests === 0) this.#addIdle(tracked)
  }

  /** Removes a connection. An unknown one, for example one that was replaced, is ignored. */
  close(connection: Connection): void {
    const tracked = this.#tracked.get(connection)
    if (tracked === undefined) return
    this.#tracked.delete(connection)
    if (tracked.requests === 0) this.#removeIdle(tracked)
    this.#count(tracked.client, -1)
  }

  #longestIdle(): Tracked<Connection> | undefined {
    const lists = this.#byConnections
    let highest = this.#highest
    while (highest > 0 && (lists[highest]?.size ?? 0) === 0) highest -= 1
    this.#highest = highest
    if (highest <= this.#maxEqualConnections) return this.#idle.first?.tracked
    return lists[highest]?.first?.idle.first
  }

  #count(client: Client<Connection>, change: 1 | -1): void {
    if (client.idle.size > 0) this.#listOf(client.connections).remove(client)
    client.connections += change
    if (client.idle.size > 0) this.#list(client)
    if (client.connections === 0) this.#clients.delete(client.address)
    else this.#clients.set(client.address, client)
  }

  #addIdle(tracked: Tracked<Connection>): void {
    const { client } = tracked
    client.idle.add(tracked)
    this.#idle.add(tracked.idle)
    if (client.idle.size === 1) this.#list(client)
  }

  #removeIdle(tracked: Tracked<Connection>): void {
    const { client } = tracked
    client.idle.remove(tracked)
    this.#idle.remove(tracked.idle)
    if (client.idle.size === 0) this.#listOf(client.connections).remove(client)
  }

  #list(client: Client<Connection>): void {
    this.#listOf(client.connections).add(client)
    this.#highest = Math.max(this.#highest, client.connections)
  }

  #listOf(connections: number): LinkedList<Client<Connection>> {
    this.#byConnections[connections] ??= new LinkedList()
    return this.#byConnections[connections]
  }
}

/** A client address and its connections. */
class Client<Connection> implements LinkedListItem<Client<Connection>> {
  before: Client<Connection> | undefined = undefined
  after: Client<Connection> | undefined = undefined
  readonly address: string
  connections = 0
  /** The idle connections of this client, the longest idle first. */
  readonly idle = new LinkedList<Tracked<Connection>>()

  constructor(address: string) {
    this.address = address
  }
}

/** An open connection. */
class Tracked<Connection> implements LinkedListItem<Tracked<Connection>> {
  before: Tracked<Connection> | undefined = undefined
  after: Tracked<Connection> | undefined = undefined
  readonly connection: Connection
  readonly client: Client<Connection>
  /** Number of requests in progress on this connection. */
  requests = 0
  readonly idle = new Idle<Connection>(this)

  constructor(connection: Connection, client: Client<Connection>) {
    this.connection = connection
    this.client = client
  }
}

class Idle<Connection> implements LinkedListItem<Idle<Connection>> {
  before: Idle<Connection> | undefined = undefined
  after: Idle<Connection> | undefined = undefined
  readonly tracked: Tracked<Connection>

  constructor(tracked: Tracked<Connection>) {
    this.tracked = tracked
  }
}
