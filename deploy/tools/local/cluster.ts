import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type Broker, startBroker } from './broker.ts'
import { clusterMetadata } from './metadata-probe.ts'
import { freePorts } from './ports.ts'
import { newId } from './server-properties.ts'

/** Three nodes are up after three seconds on an idle machine; one that comes back waits until its former session is over. */
const readyTimeoutMs = 180_000

export interface ClusterOptions {
  readonly dataDir: string
  /** One, or three: replication factor 3, and a write needs two of them. */
  readonly size: 1 | 3
  /** Each broker gets a second listener, and advertises on it the address at which something in between, a proxy, listens for it. */
  readonly behindProxy?: boolean
  /** More server properties; they beat ours. */
  readonly properties?: Readonly<Record<string, string>>
}

/** A broker of the cluster: killed and brought back it is the same one, with its data, at the same address. */
export interface ClusterNode {
  readonly id: number
  /** `127.0.0.1:port` */
  readonly address: string
  /** With `behindProxy`: where a proxy has to listen, and what it has to connect to. */
  readonly proxied: { readonly listen: number; readonly target: number } | undefined
  readonly isUp: boolean
  /** How it ended, whoever ended it; undefined while it is not started. */
  readonly ended: Promise<string> | undefined
  /** SIGKILL. */
  kill(): Promise<void>
  /** SIGTERM. A node without a quorum does not stop by itself and is killed after five seconds. */
  stop(): Promise<void>
  /** Resolves when it answers as a member of the cluster. */
  start(): Promise<void>
}

export interface Cluster {
  readonly nodes: readonly ClusterNode[]
  readonly brokers: readonly string[]
  /** What a client behind the proxies is given; the brokers themselves without `behindProxy`. */
  readonly proxiedBrokers: readonly string[]
  /** Ends all nodes and removes their data. */
  close(): Promise<void>
}

/**
 * Starts a cluster of real brokers, each its own controller too, on the loopback interface, and resolves when every broker knows all of them.
 * Needs Java and, the first time, Maven. @throws as `startBroker` does; nothing is left running then.
 */
export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const { dataDir, size } = options
  await mkdir(dataDir, { recursive: true })
  const portsEach = 4
  const firstPort = await freePorts(size * portsEach)
  const clusterId = newId()
  const places = Array.from({ length: size }, (_, index) => {
    const port = firstPort + index * portsEach
    return { id: index + 1, port, controllerPort: port + 1, proxied: { target: port + 2, listen: port + 3 } }
  })
  const voters = places.map(({ id, controllerPort }) => `${id}@127.0.0.1:${controllerPort}`).join(',')
  const nodes = places.map(place => createNode(place, { ...options, clusterId, voters }))
  const cluster: Cluster = {
    nodes,
    brokers: nodes.map(({ address }) => address),
    proxiedBrokers: nodes.map(({ address, proxied }) => (proxied ? `127.0.0.1:${proxied.listen}` : address)),
    async close() {
      // Without a quorum no node stops by itself, and nobody needs what they hold.
      await Promise.all(nodes.map(node => node.kill()))
      await rm(dataDir, { recursive: true, force: true })
    },
  }
  const starts = await Promise.allSettled(nodes.map(node => node.start()))
  try {
    for (const start of starts) if (start.status === 'rejected') throw start.reason
    await untilComplete(cluster)
  } catch (error) {
    await cluster.close()
    throw error
  }
  return cluster
}

interface Place {
  readonly id: number
  readonly port: number
  readonly controllerPort: number
  readonly proxied: { readonly listen: number; readonly target: number }
}

function createNode(place: Place, options: ClusterOptions & { clusterId: string; voters: string }): ClusterNode {
  const { id, port, controllerPort } = place
  const proxied = options.behindProxy ? place.proxied : undefined
  let broker: Broker | undefined
  const end = async (how: 'kill' | 'stop'): Promise<void> => {
    const ending = broker
    broker = undefined
    await ending?.[how]()
  }
  return {
    id,
    address: `127.0.0.1:${port}`,
    proxied,
    get isUp() {
      return broker !== undefined
    },
    get ended() {
      return broker?.ended
    },
    kill: () => end('kill'),
    stop: () => end('stop'),
    async start() {
      broker ??= await startBroker({
        dataDir: join(options.dataDir, String(id)),
        port,
        controllerPort,
        member: { clusterId: options.clusterId, nodeId: id },
        properties: { ...nodeProperties(place, options), ...options.properties },
      })
    },
  }
}

function nodeProperties(
  { id, port, controllerPort, proxied }: Place,
  { size, voters, behindProxy }: ClusterOptions & { voters: string },
): Readonly<Record<string, string>> {
  const own = `PLAINTEXT://127.0.0.1:${port}`
  const listeners = [own, `CONTROLLER://127.0.0.1:${controllerPort}`]
  const advertised = [own]
  if (behindProxy) {
    listeners.push(`PROXIED://127.0.0.1:${proxied.target}`)
    advertised.push(`PROXIED://127.0.0.1:${proxied.listen}`)
  }
  return {
    'node.id': String(id),
    'controller.quorum.voters': voters,
    listeners: listeners.join(','),
    'advertised.listeners': advertised.join(','),
    'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,PROXIED:PLAINTEXT',
    ...(size === 3 ? ofThree : {}),
  }
}

/** Replicated everywhere, and quick to notice that a node is gone: a leader moves after some three seconds. */
const ofThree: Readonly<Record<string, string>> = {
  'default.replication.factor': '3',
  'min.insync.replicas': '2',
  'offsets.topic.replication.factor': '3',
  'transaction.state.log.replication.factor': '3',
  'transaction.state.log.min.isr': '2',
  'share.coordinator.state.topic.replication.factor': '3',
  'share.coordinator.state.topic.min.isr': '2',
  'controller.quorum.election.timeout.ms': '500',
  'controller.quorum.fetch.timeout.ms': '1000',
  'controller.quorum.election.backoff.max.ms': '300',
  'replica.lag.time.max.ms': '5000',
}

/** Each broker has heard of all others: only then can a topic with that many replicas be made through any of them. */
async function untilComplete({ nodes }: Cluster): Promise<void> {
  const deadline = performance.now() + readyTimeoutMs
  for (const { address } of nodes) {
    const port = Number(address.slice(address.indexOf(':') + 1))
    for (;;) {
      const found = await clusterMetadata('127.0.0.1', port).catch(() => undefined)
      if (found?.brokers.length === nodes.length) break
      if (performance.now() > deadline) throw new Error(`broker ${address} knows ${found?.brokers ?? 'nobody'}`)
      await delay(50)
    }
  }
}
