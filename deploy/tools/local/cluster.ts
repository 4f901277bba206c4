import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type Broker, startBroker } from './broker.ts'
import { freePorts } from './free-ports.ts'
import { clusterMetadata } from './request-cluster-metadata.ts'
import { newId } from './server-properties.ts'

/**
 * Time limit for a start. A start usually takes 3 s, but the controller accepts a restarted node
 * only after the node's previous session has expired.
 */
const readyTimeoutMs = 180_000

export interface ClusterOptions {
  readonly dataDir: string
  /** Number of brokers: 1, or 3 for replication factor 3 with min.insync.replicas 2. */
  readonly size: 1 | 3
  /** Gives each broker a second listener that advertises the address of a proxy. */
  readonly behindProxy?: boolean
  /** Additional server properties. They override the defaults. */
  readonly properties?: Readonly<Record<string, string>>
}

/** A broker of the cluster. After a restart it has the same data and address. */
export interface ClusterNode {
  readonly id: number
  /** The address for clients: `127.0.0.1:port` */
  readonly address: string
  /** With `behindProxy`: the port on which the proxy listens, and the port that it connects to. */
  readonly proxied: { readonly listen: number; readonly target: number } | undefined
  readonly isUp: boolean
  /** Resolves with the cause when the process ends. `undefined` while the broker is not started. */
  readonly ended: Promise<string> | undefined
  kill(): Promise<void>
  /** Sends SIGTERM. Sends SIGKILL after 5 s, because a node without a quorum ignores SIGTERM. */
  stop(): Promise<void>
  /** Resolves when the broker is a member of the cluster. */
  start(): Promise<void>
}

export interface Cluster {
  readonly nodes: readonly ClusterNode[]
  readonly brokers: readonly string[]
  /** The bootstrap addresses for clients: with `behindProxy`, those of the proxies. */
  readonly proxiedBrokers: readonly string[]
  close(): Promise<void>
}

/**
 * Starts a local cluster of Kafka brokers. Resolves when every broker knows all others.
 * @throws the errors of `startBroker`, after stopping all nodes
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
      // SIGTERM does not stop a node without a quorum, so the nodes are killed.
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

/**
 * Server properties for three brokers: topics are replicated, and the brokers elect a new
 * controller and find late replicas faster than by default.
 */
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

/** Waits until each broker knows all others. Before that, creating a replicated topic can fail. */
async function untilComplete({ nodes }: Cluster): Promise<void> {
  const deadline = performance.now() + readyTimeoutMs
  for (const { address } of nodes) {
    const port = Number(address.slice(address.indexOf(':') + 1))
    for (;;) {
      const found = await clusterMetadata('127.0.0.1', port).catch(() => undefined)
      if (found?.brokers.length === nodes.length) break
      if (performance.now() > deadline)
        throw new Error(`broker ${address} does not know all brokers, but only: ${found?.brokers.join(', ') || 'none'}`)
      await delay(50)
    }
  }
}
