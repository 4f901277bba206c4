import http from 'node:http'
import https from 'node:https'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { TlsIdentity } from '../../core/network/tls-identity.ts'
import type { UrlParts } from '../../core/network/url.ts'
import type { Clock } from '../../core/ports.ts'
import type { NetworkSettings } from '../../core/settings/settings.ts'
import type { ConnectionsProgress, FollowedConnection } from './connection-progress.ts'
import type { ConnectionRules } from './connection-rules.ts'
import type { Resolve } from './dns-resolver.ts'
import { idleTimeoutMs, maxAgeMs, maxOpen } from './http-client-limits.ts'
import type { ConnectionLimit } from './open-connection-limit.ts'
import { createPoolGenerations, type PoolGeneration } from './pools-by-tls-identity.ts'
import type { OpeningTunnel } from './proxy-tunnel.ts'
import { serverNameOf, TlsEndpoints } from './tls-sessions-and-certificate-refusals.ts'

export interface AgentPair {
  readonly http: http.Agent
  readonly https: https.Agent
}

export interface Agents {
  /**
   * Agents that reuse connections, for the current network settings and this identity.
   * @throws UnusableIdentity
   */
  shared(identity: TlsIdentity | undefined): AgentPair
  /**
   * Agents that open a new connection for every request.
   * @throws UnusableIdentity
   */
  fresh(identity: TlsIdentity | undefined): AgentPair
  /**
   * Whether `shared` has more idle connections to this endpoint than `reserveIdle` has reserved.
   * The reservations of all identities count, because they are not stored by identity.
   * @throws UnusableIdentity
   */
  hasIdle(endpoint: Endpoint, identity: TlsIdentity | undefined): boolean
  /**
   * Reserves an idle connection for a request before the HTTP client `got` passes it to an agent.
   * Call the returned function when the agent has the request, or the request has ended.
   */
  reserveIdle(endpoint: Endpoint): () => void
  /** Closes idle connections. A connection in use is closed when its request ends. */
  close(): void
}

type Endpoint = Pick<UrlParts, 'isTls' | 'hostname' | 'port'>
const keyOf = ({ isTls, hostname, port }: Endpoint): string => `${isTls ? 'https' : 'http'}://${hostname}:${port}`

/**
 * An additional option of requests. Node passes unknown options to `createConnection` of the agent,
 * but does not document this.
 */
export interface TunnelOption {
  /** Called when the agent begins to open a tunnel through the proxy. */
  readonly onTunnel: (tunnel: OpeningTunnel) => void
}

/** The agents for one value of the network settings and one TLS identity. */
class AgentGeneration implements PoolGeneration {
  readonly shared: AgentPair
  readonly fresh: AgentPair
  readonly #rules: ConnectionRules
  readonly #connections: ConnectionsProgress
  readonly #connectionLimit: ConnectionLimit
  readonly #endpoints: TlsEndpoints
  /**
   * The idle connections by endpoint. Endpoints come from the configuration, so their number is
   * limited.
   */
  readonly #idle = new Map<string, Set<Socket>>()
  /** The set in `#idle` to which a connection belongs while it is idle. */
  readonly #idleSets = new WeakMap<Socket, Set<Socket>>()
  #isRetired = false

  constructor(
    rules: ConnectionRules,
    { connections, clock }: Pick<Deps, 'connections' | 'clock'>,
    connectionLimit: ConnectionLimit,
  ) {
    this.#rules = rules
    this.#connections = connections
    this.#connectionLimit = connectionLimit
    this.#endpoints = new TlsEndpoints(() => clock.monotonic())
    this.shared = this.#pair(true)
    this.fresh = this.#pair(false)
  }

  /** The number of idle connections to this endpoint. */
  idle(endpoint: Endpoint): number {
    return this.#idle.get(keyOf(endpoint))?.size ?? 0
  }

  retire(): void {
    this.#isRetired = true
    for (const agent of [this.shared.http, this.shared.https]) {
      for (const socket of Object.values(agent.freeSockets).flat()) socket?.destroy()
    }
  }

  #pair(keepAlive: boolean): AgentPair {
    const options = {
      ...{ keepAlive, maxFreeSockets: maxOpen, timeout: idleTimeoutMs, ...this.#rules.connect },
      // Node's own cache keeps TLS sessions of any age, so `TlsEndpoints` caches the sessions.
      maxCachedSessions: 0,
    }
    return { http: this.#guard(new http.Agent(options), false), https: this.#guard(new https.Agent(options), true) }
  }

  /**
   * Overrides methods of the agent: checks the address and port of a new connection, keeps a
   * connection for reuse only until its maximum age, and tracks the idle connections.
   */
  #guard<A extends http.Agent>(agent: A, isTls: boolean): A {
    const dial = agent.createConnection.bind(agent)
    const mayKeep = agent.keepSocketAlive.bind(agent) as (socket: Socket) => boolean
    const reuse = agent.reuseSocket.bind(agent)
    const createConnection: typeof dial = (options, callback) => {
      const [host, port] = [options.host ?? '', Number(options.port)]
      const { onTunnel } = options as typeof options & TunnelOption
      // Node keeps the options until the connection closes, and `onTunnel` would keep the request
      // in memory.
      Reflect.deleteProperty(options, 'onTunnel')
      const refusal = this.#rules.refuse(host, port) ?? (isTls ? this.#endpoints.refuse(host, port) : undefined)
      if (refusal !== undefined) {
        callback?.(refusal, undefined as never)
        return undefined
      }
      const tunnels = this.#rules.tunnelsFor(host)
      const secure = (tunnel?: Socket): Socket => {
        const own = { servername: serverNameOf(host), ...this.#endpoints.resume(host, port) }
        const socket = dial({ ...options, ...own, ...(tunnel && { socket: tunnel }) })
        this.#endpoints.follow(socket as TLSSocket, host, port)
        return socket as Socket
      }
      if (tunnels === undefined) {
        const socket = isTls ? secure() : (dial(options) as Socket)
        return this.#follow(socket, { host, isTls, isTunnelled: false }, port)
      }
      const tunnel = tunnels.open(host, port, {
        onOpen: socket =>
          callback?.(null, this.#follow(isTls ? secure(socket) : socket, { host, isTls, isTunnelled: true }, port)),
        onError: error => callback?.(error, undefined as never),
      })
      onTunnel(tunnel)
      return undefined
    }
    const keepSocketAlive = (socket: Socket): boolean => {
      const isKept = !this.#isRetired && this.#connections.age(socket) < maxAgeMs && mayKeep(socket)
      if (isKept) {
        this.#idleSets.get(socket)?.add(socket)
        // `becameIdle` may destroy this socket.
        this.#connectionLimit.becameIdle(socket)
      }
      return isKept && !socket.destroyed
    }
    const reuseSocket: typeof reuse = (socket, request) => {
      this.#connections.noteReuse(socket)
      this.#connectionLimit.reused(socket)
      this.#idleSets.get(socket as Socket)?.delete(socket as Socket)
      reuse(socket, request)
    }
    return Object.assign(agent, { createConnection, keepSocketAlive, reuseSocket })
  }

  /**
   * Counts the connection, and follows its progress. This is a method, because a function inside
   * `createConnection` would keep the first request in memory until the connection closes.
   */
  #follow(socket: Socket, connection: FollowedConnection, port: number): Socket {
    const key = keyOf({ isTls: connection.isTls, hostname: connection.host, port })
    const idle = this.#idle.get(key) ?? new Set()
    this.#idle.set(key, idle)
    this.#idleSets.set(socket, idle)
    this.#connections.follow(socket, connection)
    this.#connectionLimit.opened()
    socket.once('close', () => {
      this.#connectionLimit.closed(socket)
      idle.delete(socket)
    })
    return socket
  }
}

interface Deps {
  readonly network: () => NetworkSettings
  readonly resolve: Resolve
  readonly connections: ConnectionsProgress
  readonly clock: Pick<Clock, 'monotonic'>
}

/**
 * Creates Node agents that connect only to addresses and ports that the current settings allow. A
 * change of the settings closes idle connections.
 */
export function createAgents({ network, resolve, connections, clock }: Deps): Agents {
  const generations = createPoolGenerations(
    { network, resolve, clock },
    (rules, connectionLimit) => new AgentGeneration(rules, { connections, clock }, connectionLimit),
  )
  /** The number of reserved idle connections by endpoint. */
  const reserved = new Map<string, number>()

  return {
    shared: identity => generations.current(identity).shared,
    fresh: identity => generations.current(identity).fresh,
    hasIdle: (endpoint, identity) =>
      generations.current(identity).idle(endpoint) > (reserved.get(keyOf(endpoint)) ?? 0),
    reserveIdle(endpoint) {
      const key = keyOf(endpoint)
      const add = (count: number) => reserved.set(key, (reserved.get(key) ?? 0) + count)
      add(1)
      let isReserved = true
      return () => {
        if (isReserved) add(-1)
        isReserved = false
      }
    },
    close: () => generations.close(),
  }
}
