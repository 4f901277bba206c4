import http from 'node:http'
import https from 'node:https'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { TlsIdentity } from '../../core/network/tls-identity.ts'
import type { UrlParts } from '../../core/network/url.ts'
import type { Clock } from '../../core/ports.ts'
import type { NetworkSettings } from '../../core/settings/settings.ts'
import type { OpenConnections } from './close-longest-idle-connections.ts'
import type { ConnectionsProgress, FollowedConnection } from './connection-progress.ts'
import type { ConnectionRules } from './connection-rules.ts'
import { idleTimeoutMs, maxAgeMs, maxOpen } from './http-client-limits.ts'
import { createPoolGenerations, type PoolGeneration } from './pool-generations.ts'
import type { OpeningTunnel } from './proxy-tunnel.ts'
import type { Resolve } from './resolver.ts'
import { serverNameOf, TlsEndpoints } from './tls-endpoint-state.ts'

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
   * Whether `shared` has more idle connections to this endpoint than the number of expected
   * requests (`expect`) of all identities.
   * @throws UnusableIdentity
   */
  hasIdle(endpoint: Endpoint, identity: TlsIdentity | undefined): boolean
  /**
   * Counts a request before the HTTP client `got` passes it to an agent. Call the returned function
   * when the agent has the request, or the request has ended.
   */
  expect(endpoint: Endpoint): () => void
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
  readonly #open: OpenConnections
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
    open: OpenConnections,
  ) {
    this.#rules = rules
    this.#connections = connections
    this.#open = open
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
      // Node's own cache keeps TLS sessions of any age. `TlsEndpoints` keeps the sessions instead.
      maxCachedSessions: 0,
    }
    return { http: this.#guard(new http.Agent(options), false), https: this.#guard(new https.Agent(options), true) }
  }

  /**
   * Overrides the agent's methods: checks the address and port of a new connection and the age of a
   * kept one, and notes idle connections.
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
        this.#open.becameIdle(socket)
      }
      return isKept && !socket.destroyed
    }
    const reuseSocket: typeof reuse = (socket, request) => {
      this.#connections.noteReuse(socket)
      this.#open.reused(socket)
      this.#idleSets.get(socket as Socket)?.delete(socket as Socket)
      reuse(socket, request)
    }
    return Object.assign(agent, { createConnection, keepSocketAlive, reuseSocket })
  }

  /**
   * Counts the connection, and follows its progress. It is a method, because a function inside
   * `createConnection` would keep the first request in memory until the connection closes.
   */
  #follow(socket: Socket, connection: FollowedConnection, port: number): Socket {
    const key = keyOf({ isTls: connection.isTls, hostname: connection.host, port })
    const idle = this.#idle.get(key) ?? new Set()
    this.#idle.set(key, idle)
    this.#idleSets.set(socket, idle)
    this.#connections.follow(socket, connection)
    this.#open.opened()
    socket.once('close', () => {
      this.#open.closed(socket)
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
    (rules, open) => new AgentGeneration(rules, { connections, clock }, open),
  )
  /** The number of expected requests by endpoint. */
  const expected = new Map<string, number>()

  return {
    shared: identity => generations.current(identity).shared,
    fresh: identity => generations.current(identity).fresh,
    hasIdle: (endpoint, identity) =>
      generations.current(identity).idle(endpoint) > (expected.get(keyOf(endpoint)) ?? 0),
    expect(endpoint) {
      const key = keyOf(endpoint)
      const add = (count: number) => expected.set(key, (expected.get(key) ?? 0) + count)
      add(1)
      let isExpected = true
      return () => {
        if (isExpected) add(-1)
        isExpected = false
      }
    },
    close: () => generations.close(),
  }
}
