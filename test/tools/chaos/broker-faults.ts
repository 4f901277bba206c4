import { setTimeout as delay } from 'node:timers/promises'
import type { ClusterNode } from '../../../deploy/tools/local/cluster.ts'
import { allPartitions, bringBack, onPartitions } from './faults.ts'
import type { Fault } from './scenario.ts'
import type { World } from './world.ts'

/** Until a broker whose disk is full has ended: one that has nothing to write may take longer. */
const endsMs = 20_000
/** Until leaders have moved. */
const moveMs = 60_000
/** Beside a broker that is out of reach those partitions go on that others lead: a request to it is given up after ten seconds. */
const othersMs = 20_000

const now = (): number => performance.now()

/** Any broker that leads partitions of the events topic, and which these are. */
async function anyLeader({ view, pipeline, chance, cluster }: World) {
  const leaders = [...(await view.leaders(pipeline.topics.events))]
  const id = chance.pick([...new Set(leaders.map(([, { node }]) => node))].sort((a, b) => a - b))
  const hit = leaders.flatMap(([partition, { node }]) => (node === id ? [partition] : []))
  return { index: cluster.nodes.findIndex(node => node.id === id), id, hit }
}

/**
 * The disk of any broker that leads is full: a broker that cannot write ends by itself. It comes back when there is room again and others
 * lead.
 */
export const fillDisk: Fault = {
  name: 'disk full',
  async inject(world) {
    const { index, id, hit } = await anyLeader(world)
    const [node, disk] = [world.cluster.nodes[index]!, world.disks[index]!]
    const at = now()
    await disk.fill()
    await ended(node)
    const heal = async (): Promise<string[]> => {
      await disk.free()
      return bringBack(world, node)
    }
    return { what: `broker ${id}`, at, recovery: onPartitions(hit, at), heal }
  },
}

/** The disks of all brokers are full; when all have ended there is room again after so many seconds, and they are started. */
export const fillDisks = (seconds: number): Fault => ({
  name: 'all disks full',
  async inject(world) {
    const { cluster, disks } = world
    const at = now()
    await Promise.all(disks.map(disk => disk.fill()))
    await Promise.all(cluster.nodes.map(ended))
    await delay(seconds * 1_000)
    await Promise.all(disks.map(disk => disk.free()))
    await Promise.all(cluster.nodes.map(node => node.start()))
    return { what: `${cluster.nodes.length} brokers`, at, recovery: onPartitions(allPartitions, now()) }
  },
})

/** Resolves when it has ended by itself, or has been killed because it did not; it can be started again then. */
async function ended(node: ClusterNode): Promise<void> {
  await Promise.race([node.ended, delay(endsMs)])
  await node.kill()
}

/** Any broker that leads is out of the reach of the service for so long; the other brokers reach it, so that it goes on leading. */
export const isolateLeader = (seconds: number): Fault => ({
  name: `out of reach ${seconds} s`,
  async inject(world) {
    const { proxies, ledger, view, pipeline, patience } = world
    const { index, id, hit } = await anyLeader(world)
    const isCoordinator = (await view.coordinator(pipeline.topics.dispatcherGroup)) === id
    const others = onPartitions(
      allPartitions.filter(partition => !hit.includes(partition)),
      now(),
    )
    proxies[index]!.set({ kind: 'half-open' })
    const goOn = ledger.seen(others.keys, { ...others, patienceMs: othersMs * patience })
    await delay(seconds * 1_000)
    proxies[index]!.set({ kind: 'open' })
    const stood = (await goOn) === undefined && !isCoordinator
    return {
      what: `broker ${id}${isCoordinator ? ', the coordinator' : ''}`,
      at: others.from,
      recovery: onPartitions(allPartitions, now()),
      problems: stood ? [`while broker ${id} was out of reach, partitions that others lead did not go on`] : [],
    }
  },
})

/** Every partition of the events topic and of the retry topics gets another leader, by hand and while all brokers are well. */
export const moveLeaders: Fault = {
  name: 'leaders moved',
  async inject(world) {
    const { view, patience } = world
    const topics = await topicsOf(world)
    const before = await Promise.all(topics.map(topic => view.leaders(topic)))
    const at = now()
    await view.admin.alterPartitionReassignments({
      topics: topics.map((topic, index) => ({
        topic,
        partitionAssignment: [...before[index]!].map(([partition, { node }]) => ({
          partition,
          replicas: world.cluster.nodes.map(({ id }) => id).filter(id => id !== node),
        })),
      })),
    })
    const deadline = at + moveMs * patience
    const haveMoved = async (): Promise<boolean> => {
      const after = await Promise.all(topics.map(topic => view.leaders(topic).catch(() => new Map())))
      return before.every((leaders, index) =>
        [...leaders].every(([partition, { node }]) => {
          const leader = after[index]!.get(partition)?.node ?? -1
          return leader >= 0 && leader !== node
        }),
      )
    }
    while (!(await haveMoved()) && now() < deadline) await delay(100)
    const problems = now() < deadline ? [] : ['leaders did not move']
    return { what: `of ${topics.length} topics`, at, problems, recovery: onPartitions(allPartitions, now()) }
  },
}

/** What the dispatcher reads and writes. */
async function topicsOf({ view, pipeline: { topics } }: World): Promise<readonly string[]> {
  const all = await view.admin.listTopics()
  const retries = all.filter(name => name.startsWith(topics.events.replace(/events$/, 'retry.')))
  return [topics.events, ...retries.sort()]
}
