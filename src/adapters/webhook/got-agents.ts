import http from 'node:http'
import https from 'node:https'
import type { Socket } from 'node:net'
import type { NetworkSettings } from '../../core/settings/settings.ts'
import { idleTimeoutMs, maxAgeMs, maxIdlePerHost, maxKept } from './client-limits.ts'
import type { ConnectionsProgress } from './connection-progress.ts'
import type { ConnectionRules } from './connection-rules.ts'
import { createPoolGenerations, type PoolGeneration } from './pool-generations.ts'
import type { Resolve } from './resolver.ts'

export interface AgentPair {
  readonly http: http.Agent
  readonly https: https.Agent
}

export interface Agents {
  /** Agents whose connections are kept alive and reused, for the current network settings. */
  shared(): AgentPair
  /** Agents that open a new connection for every request. */
  fresh(): AgentPair
  /** Closes idle connections. A connection in use is closed when its request ends. */
  close(): void
}

/** The agents for one version of the network settings. */
class AgentGeneration implements PoolGeneration {
  readonly shared: AgentPair
  readonly fresh: AgentPair
  readonly #rules: ConnectionRules
  readonly #connections: ConnectionsProgress
  #isRetired = false

  constructor(rules: ConnectionRules, connections: ConnectionsProgress) {
    this.#rules = rules
    this.#connections = connections
    this.shared = this.#pair(true)
    this.fresh = this.#pair(false)
  }

  retire(): void {
    this.#isRetired = true
    for (const agent of [this.shared.http, this.shared.https]) {
      for (const socket of Object.values(agent.freeSockets).flat()) socket?.destroy()
    }
  }

  #pair(keepAlive: boolean): AgentPair {
    const options = { keepAlive, maxFreeSockets: maxIdlePerHost, timeout: idleTimeoutMs, ...this.#rules.connect }
    return { http: this.#guard(new http.Agent(options), false), https: this.#guard(new https.Agent(options), true) }
  }

  /**
   * Overrides the agent's methods that open, keep and reuse connections. The overrides check the
   * address and port of a new connection. Before a connection is kept, they check its age and the
   * number of open connections.
   */
  #guard<A extends http.Agent>(agent: A, isTls: boolean): A {
    const dial = agent.createConnection.bind(agent)
    const mayKeep = agent.keepSocketAlive.bind(agent) as (socket: Socket) => boolean
    const reuse = agent.reuseSocket.bind(agent)
    const createConnection: typeof dial = (options, callback) => {
      const host = options.host ?? ''
      const refusal = this.#rules.refuse(host, Number(options.port))
      if (refusal !== undefined) {
        callback?.(refusal, undefined as never)
        return undefined
      }
      const socket = dial(options) as Socket
      this.#connections.follow(socket, host, isTls)
      return socket
    }
    const keepSocketAlive = (socket: Socket): boolean => {
      const { totalSocketCount } = agent as unknown as { totalSocketCount: number }
      const isWelcome = !this.#isRetired && this.#connections.age(socket) < maxAgeMs && totalSocketCount <= maxKept
      return isWelcome && mayKeep(socket)
    }
    const reuseSocket: typeof reuse = (socket, request) => {
      this.#connections.noteReuse(socket)
      reuse(socket, request)
    }
    return Object.assign(agent, { createConnection, keepSocketAlive, reuseSocket })
  }
}

interface Deps {
  readonly network: () => NetworkSettings
  readonly resolve: Resolve
  readonly connections: ConnectionsProgress
}

/**
 * Creates Node agents that connect only to addresses and ports that the settings allow. The agents
 * read the settings for each request. A change of the settings closes idle connections.
 */
export function createAgents({ network, resolve, connections }: Deps): Agents {
  const generations = createPoolGenerations({ network, resolve }, rules => new AgentGeneration(rules, connections))

  return {
    shared: () => generations.current().shared,
    fresh: () => generations.current().fresh,
    close: () => generations.close(),
  }
}
