import { cp, glob, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Cluster, startCluster } from '../../../deploy/tools/local/cluster.ts'
import { startTcpProxy, type TcpProxy } from '../../support/network/tcp-proxy.ts'
import { startInstallation, type TestInstallation, webKey } from '../../support/process/test-installation.ts'
import { ownClock } from './faked-clock.ts'
import { createFleet, type Fleet } from './fleet.ts'
import { createKafkaView, type KafkaView } from './kafka-view.ts'
import { Ledger } from './message-ledger.ts'
import { processHeader, type Receiver, startReceiver } from './receiver.ts'
import type { Scenario } from './scenario.ts'
import type { Chance } from './seeded-random.ts'
import { type Disk, mountDisk } from './small-disk.ts'

/** An installation under load. Faults change it, and checks read it. */
export interface World {
  readonly chance: Chance
  readonly cluster: Cluster
  /** One per broker, or empty. */
  readonly proxies: readonly TcpProxy[]
  /** One disk for the data of each broker, or empty. */
  readonly disks: readonly Disk[]
  readonly installation: TestInstallation
  /** Processes that deliver: only dispatchers, or processes with all services. */
  readonly fleet: Fleet
  /** Empty if the load is written to Kafka. */
  readonly collectors: Fleet
  /** Empty if the scenario does not use the operator API. */
  readonly operators: Fleet
  readonly receiver: Receiver
  readonly ledger: Ledger
  readonly view: KafkaView
  /** Directory of this run, deleted at the end. */
  readonly directory: string
  readonly configuration: Readonly<Record<string, unknown>>
  /** Multiplies every time limit, for a busy machine. */
  readonly patience: number
  close(): Promise<void>
}

export const writeKey = webKey
export const partitions = 12

/** Value of the header `processHeader` in the configuration of a webhook. */
// biome-ignore lint/suspicious/noTemplateCurlyInString: the configuration puts the environment's value in.
export const ownName = '${CHAOS_PROCESS:-none}'

type SetUp = Omit<Scenario, 'faults' | 'load'>

/**
 * Creates topics and schemas, but starts no process. Uses the schema registry of
 * SCHEMA_REGISTRY_URL.
 */
export async function openWorld(scenario: SetUp, chance: Chance, patience: number): Promise<World> {
  const { brokers: size, behindProxy = false, destinations, intake, brokerProperties = {}, diskMb } = scenario
  const directory = await mkdtemp(join(tmpdir(), 'hookline-chaos-'))
  const open: (() => Promise<unknown>)[] = [
    () => rm(directory, { recursive: true, force: true }),
    () => keepLogs(directory, scenario.name),
  ]
  const close = async (): Promise<void> => {
    for (let end = open.pop(); end !== undefined; end = open.pop()) await end()
  }
  const opened = <T extends { close(): Promise<unknown> }>(part: T): T => {
    open.push(() => part.close())
    return part
  }
  try {
    const disks: Disk[] = []
    for (const id of Array.from({ length: diskMb === undefined ? 0 : size }, (_, index) => String(index + 1)))
      disks.push(opened(await mountDisk(join(directory, 'disks', id), join(directory, 'kafka', id), diskMb ?? 0)))
    const cluster = opened(
      await startCluster({ dataDir: join(directory, 'kafka'), size, behindProxy, properties: brokerProperties }),
    )
    const links = cluster.nodes.flatMap(({ proxied }) => (proxied === undefined ? [] : [proxied]))
    const proxies: TcpProxy[] = []
    for (const { target, listen } of links) proxies.push(opened(await startTcpProxy(target, listen)))
    const ledger = new Ledger()
    const receiver = opened(await startReceiver(ledger))
    for (const { id, script, latencyMs, inspection, webhooks = 1 } of destinations) {
      if (webhooks > 1) receiver.merge(id)
      if (script !== undefined) receiver.follow(id, script)
      if (latencyMs !== undefined) receiver.slow(id, latencyMs)
      if (inspection !== undefined) receiver.inspect(id, inspection)
    }
    const configuration = configurationOf(scenario, receiver, directory)
    const installation = opened(await startInstallation(configuration, cluster.proxiedBrokers.join(',')))
    const env = scenario.ownClock ? await ownClock(directory) : undefined
    // A starting process exits if a proxy breaks its connection to a broker. The fleet then
    // restarts it.
    const triesForMs = behindProxy ? 60_000 : 0
    const ofAll = { configFile: installation.configFile, brokers: cluster.proxiedBrokers, directory, env, triesForMs }
    const service = intake !== undefined || scenario.dispatchersOnly ? 'dispatcher' : undefined
    const fleet = opened(createFleet({ ...ofAll, prefix: 'p', service }))
    const collectors = opened(createFleet({ ...ofAll, prefix: 'c', service: 'collector' }))
    const operators = opened(createFleet({ ...ofAll, prefix: 'o', service: 'operator' }))
    const view = opened(await createKafkaView(cluster.brokers))
    return {
      ...{
        chance,
        cluster,
        proxies,
        installation,
        fleet,
        collectors,
        operators,
        receiver,
        ledger,
        view,
        patience,
        close,
      },
      ...{ directory, configuration, disks },
    }
  } catch (error) {
    await close()
    throw error
  }
}

/**
 * Copies the logs of the processes and brokers to the directory that LOGS names, if LOGS is set.
 */
async function keepLogs(directory: string, scenario: string, kept = process.env['LOGS'] ?? ''): Promise<void> {
  if (kept === '') return
  for await (const log of glob('{*.log,kafka/**/server.log}', { cwd: directory }))
    await cp(join(directory, log), join(kept, scenario, log))
}

function configurationOf(scenario: SetUp, receiver: Receiver, directory: string) {
  const { brokers, delivery, configuration } = scenario
  const destinations = scenario.destinations.map(({ id, webhooks = 1 }) => {
    const own = receiver.url(id)
    const urls = webhooks === 1 ? [own] : Array.from({ length: webhooks }, (_, index) => `${own}/${index + 1}`)
    return { id, sources: ['web'], webhooks: urls.map(url => ({ url, headers: { [processHeader]: ownName } })) }
  })
  return {
    topics: { partitions, replicationFactor: brokers },
    delivery,
    destinations,
    ...configuration?.({ destinations, directory }),
  }
}
