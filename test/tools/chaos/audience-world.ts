import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startCluster } from '../../../deploy/tools/local/cluster.ts'
import { audience } from '../../support/audience/partition-harness.ts'
import { AudienceReceiver } from '../../support/audience/receiver.ts'
import { startTcpProxy, type TcpProxy } from '../../support/network/tcp-proxy.ts'
import { startInstallation, type TestInstallation } from '../../support/process/test-installation.ts'
import { createFleet, type Fleet } from './fleet.ts'
import { createKafkaView, type KafkaView } from './kafka-view.ts'
import { processHeader } from './receiver.ts'
import type { AudienceScenario } from './scenario.ts'
import { createChance } from './seeded-random.ts'
import { ownName, partitions } from './world.ts'

/** An installation with one audience and separate processes for its services. */
export interface AudienceWorld {
  readonly installation: TestInstallation
  readonly audiences: Fleet
  readonly audiencesBehindProxy: Fleet
  /** Absent if no fault of the scenario needs it; `audiencesBehindProxy` then has no process. */
  readonly proxy: TcpProxy | undefined
  readonly dispatchers: Fleet
  readonly receivers: ReadonlyMap<string, AudienceReceiver>
  readonly view: KafkaView
  /** Uploads a full list. Resolves when all lines and the end of the sync are in Kafka. */
  sync(members: Iterable<string>): Promise<void>
  syncStatuses(): Promise<Standings>
  close(): Promise<void>
}

export interface Standings {
  readonly inFlight: number
  readonly unknown: number
  readonly different: number
}

/**
 * Starts a broker and receivers, but no process. Creates topics, and schemas in the registry of
 * SCHEMA_REGISTRY_URL.
 */
export async function openAudienceWorld(scenario: AudienceScenario, seed: number): Promise<AudienceWorld> {
  const directory = await mkdtemp(join(tmpdir(), 'hookline-chaos-'))
  const open: (() => Promise<unknown>)[] = [() => rm(directory, { recursive: true, force: true })]
  const close = async (): Promise<void> => {
    for (let end = open.pop(); end !== undefined; end = open.pop()) await end()
  }
  const opened = <T extends { close(): Promise<unknown> }>(part: T): T => {
    open.push(() => part.close())
    return part
  }
  try {
    const behindProxy = scenario.faults.flat().some(({ kind }) => kind === 'link')
    const { brokers, proxiedBrokers, nodes } = opened(
      await startCluster({ dataDir: join(directory, 'kafka'), size: 1, behindProxy }),
    )
    const link = nodes[0]?.proxied
    const proxy = link && opened(await startTcpProxy(link.target, link.listen))
    const receivers = new Map<string, AudienceReceiver>()
    for (const { id, failingPercent, latencyMs = 0 } of scenario.destinations) {
      const receiver = opened(await AudienceReceiver.started())
      receiver.latencyMs = latencyMs
      const chance = createChance(seed, `${scenario.name} ${id}`)
      receiver.answer = () => (chance.between(1, 100) <= failingPercent ? 503 : 200)
      receivers.set(id, receiver)
    }
    const installation = opened(await startInstallation(configurationOf(scenario, receivers), brokers.join(',')))
    const ofAll = { configFile: installation.configFile, brokers, directory }
    const audiences = opened(createFleet({ ...ofAll, prefix: 'a', service: 'audiences' }))
    const audiencesBehindProxy = opened(
      createFleet({ ...ofAll, brokers: proxiedBrokers, prefix: 'b', service: 'audiences' }),
    )
    const dispatchers = opened(createFleet({ ...ofAll, prefix: 'd', service: 'dispatcher' }))
    const view = opened(await createKafkaView(brokers))
    return {
      ...{ installation, audiences, audiencesBehindProxy, proxy, dispatchers, receivers, view, close },
      async sync(members) {
        const file = join(directory, 'members.txt')
        await writeFile(file, [...members].join('\n'))
        await installation.command('audience', 'sync', '--name', audience, '--members', file)
      },
      syncStatuses: () => standingsIn(installation),
    }
  } catch (error) {
    await close()
    throw error
  }
}

function configurationOf(
  { delivery, emitPerSecond }: AudienceScenario,
  receivers: AudienceWorld['receivers'],
): Parameters<typeof startInstallation>[0] {
  const ids = [...receivers.keys()]
  return {
    topics: { partitions, replicationFactor: 1 },
    delivery,
    destinations: [...receivers].map(([id, { url }]) => ({
      id,
      sources: ['web'],
      webhooks: [{ url, headers: { [processHeader]: ownName } }],
    })),
    audiences: { emitPerSecond, list: [{ name: audience, kind: 'audience', destinations: ids }] },
  }
}

async function standingsIn(installation: TestInstallation): Promise<Standings> {
  const printed = await installation.command('audience', 'show', '--name', audience, '--json')
  const { destinations } = JSON.parse(printed) as { readonly destinations: readonly Standings[] }
  const sum = (of: keyof Standings): number => destinations.reduce((all, each) => all + each[of], 0)
  return { inFlight: sum('inFlight'), unknown: sum('unknown'), different: sum('different') }
}
