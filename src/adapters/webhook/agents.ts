import http from 'node:http'
import https from 'node:https'
import type { Socket } from 'node:net'
import type { NetworkSettings } from '../../core/settings/settings.ts'
import { idleTimeoutMs, maxAgeMs, maxIdlePerHost, maxKept } from './client-limits.ts'
import type { ConnectionsProgress } from './connection-progress.ts'
import { createGenerations, type DialPolicy, type Generation } from './dial.ts'
import type { Resolve } from './dns.ts'

export interface AgentPair {
  readonly http: http.Agent
  readonly https: https.Agent
}

export interface Agents {
  /** Kept-alive connections, dialled under the present settings. */
  shared(): AgentPair
  /** Always a new connection, used once. */
  fresh(): AgentPair
  /** Drops idle connections; those in use are dropped when they become idle. */
  close(): void
}

/** The agents of one state of the settings. */
class AgentGeneration implements Generation {
  readonly shared: AgentPair
  readonly fresh: AgentPair
  readonly #policy: DialPolicy
  readonly #connections: ConnectionsProgress
  #isRetired = false

  constructor(policy: DialPolicy, connections: ConnectionsProgress) {
    this.#policy = policy
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
    const options = { keepAlive, maxFreeSockets: maxIdlePerHost, timeout: idleTimeoutMs, ...this.#policy.connect }
    return { http: this.#guard(new http.Agent(options), false), https: this.#guard(new https.Agent(options), true) }
  }

  /** Puts our checks into an agent's own extension points. */
  #guard<A extends http.Agent>(agent: A, isTls: boolean): A {
    const dial = agent.createConnection.bind(agent)
    const mayKeep = agent.keepSocketAlive.bind(agent) as (socket: Socket) => boolean
    const reuse = agent.reuseSocket.bind(agent)
    const createConnection: typeof dial = (options, callback) => {
      const host = options.host ?? ''
      const refusal = this.#policy.refuse(host, Number(options.port))
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

/** Node's agents, which dial only what the settings allow. These are read for each call: a change drops idle connections. */
export function createAgents({ network, resolve, connections }: Deps): Agents {
  const generations = createGenerations({ network, resolve }, policy => new AgentGeneration(policy, connections))

  return {
    shared: () => generations.current().shared,
    fresh: () => generations.current().fresh,
    close: () => generations.close(),
  }
}
