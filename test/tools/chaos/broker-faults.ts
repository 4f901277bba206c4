import { setTimeout as delay } from 'node:timers/promises'
import type { ClusterNode } from '../../../deploy/tools/local/cluster.ts'
import { allPartitions, now, onPartitions } from './recovery-condition.ts'
import type { Fault, Hit } from './scenario.ts'
import type { World } from './world.ts'

/**
 * Time limit in ms for a broker with a full disk to end. The broker notices the full disk only when
 * it writes.
 */
const endsMs = 20_000
const catchUpMs = 60_000
const moveMs = 60_000
/**
 * Time limit for deliveries from partitions of reachable brokers. A request to the unreachable
 * broker times out after ten seconds.
 */
const othersMs = 20_000

/**
 * Chooses a random broker that leads partitions of the events topic. `hit` are the partitions that
 * this broker leads.
 */
async function anyLeader({ view, installation, chance, cluster }: World) {
  const leaders = [...(await view.leaders(installation.topics.events))]
  const id = chance.pick([...new Set(leaders.map(([, { node }]) => node))].sort((a, b) => a - b))
  const hit = leaders.flatMap(([partition, { node }]) => (node === id ? [partition] : []))
  return { index: cluster.nodes.findIndex(node => node.id === id), id, hit }
}

/**
 * Kills a broker that leads partitions of the events topic. Starts it when these partitions deliver
 * with new leaders.
 */
export const killLeader: Fault = {
  name: 'leader killed',
  async inject(world) {
    const { id, hit } = await anyLeader(world)
    return killNode(world, id, hit)
  },
}

export const killCoordinator: Fault = {
  name: 'coordinator killed',
  inject: async world =>
    killNode(world, await world.view.coordinator(world.installation.topics.dispatcherGroup), allPartitions),
}

async function killNode(world: World, id: number, hit: readonly number[]): Promise<Hit> {
  const node = world.cluster.nodes.find(each => each.id === id)
  if (node === undefined) throw new Error(`there is no broker ${id}`)
  const at = now()
  await node.kill()
  return { what: `broker ${id}`, at, recovery: onPartitions(hit, at), heal: () => bringBack(world, node) }
}

/**
 * Starts the broker and waits until every replica is in sync. Otherwise, the next fault could make
 * two of three replicas unavailable.
 */
export async function bringBack(
  { view, cluster, installation, patience }: World,
  node: ClusterNode,
): Promise<string[]> {
  await node.start()
  const deadline = now() + catchUpMs * patience
  const isWhole = async (topic: string): Promise<boolean> => {
    const leaders = await view.leaders(topic).catch(() => new Map<number, { inSync: number }>())
    return leaders.size > 0 && [...leaders.values()].every(({ inSync }) => inSync === cluster.nodes.length)
  }
  for (;;) {
    if ((await isWhole(installation.topics.events)) && (await isWhole('__consumer_offsets'))) return []
    if (now() > deadline) return [`broker ${node.id} did not catch up`]
    await delay(200)
  }
}

/** Kills all brokers at the same time with SIGKILL, and starts them after `seconds`. */
export const killBrokers = (seconds: number): Fault => ({
  name: `all brokers killed${seconds > 0 ? ` for ${seconds} s` : ''}`,
  async inject({ cluster }) {
    const at = now()
    await Promise.all(cluster.nodes.map(node => node.kill()))
    await delay(seconds * 1_000)
    await Promise.all(cluster.nodes.map(node => node.start()))
    return { what: `${cluster.nodes.length} brokers`, at, recovery: onPartitions(allPartitions, now()) }
  },
})

/**
 * Fills the disk of a broker, so that it stops. Frees the disk and starts the broker when its
 * partitions deliver from new leaders.
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

/**
 * Fills the disks of all brokers. When all brokers have stopped, waits `seconds`, frees the disks,
 * and starts the brokers again.
 */
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

/** Waits until the broker has stopped by itself. Kills it after `endsMs`. */
async function ended(node: ClusterNode): Promise<void> {
  await Promise.race([node.ended, delay(endsMs)])
  await node.kill()
}

/**
 * Makes a random leader of partitions unreachable for Hookline. The other brokers still reach it,
 * so it keeps its partitions.
 */
export const isolateLeader = (seconds: number): Fault => ({
  name: `unreachable ${seconds} s`,
  async inject(world) {
    const { proxies, ledger, view, installation, patience } = world
    const { index, id, hit } = await anyLeader(world)
    const isCoordinator = (await view.coordinator(installation.topics.dispatcherGroup)) === id
    const others = onPartitions(
      allPartitions.filter(partition => !hit.includes(partition)),
      now(),
    )
    proxies[index]!.set({ kind: 'half-open' })
    const goOn = ledger.seen(others.keys, { ...others, patienceMs: othersMs * patience })
    await delay(seconds * 1_000)
    proxies[index]!.set({ kind: 'open' })
    const haveStopped = (await goOn) === undefined && !isCoordinator
    return {
      what: `broker ${id}${isCoordinator ? ', the coordinator' : ''}`,
      at: others.from,
      recovery: onPartitions(allPartitions, now()),
      problems: haveStopped ? [`while broker ${id} was unreachable, partitions of other leaders stopped`] : [],
    }
  },
})

/**
 * Moves every partition of the events topic and the retry topics to another leader, while all
 * brokers run.
 */
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

async function topicsOf({ view, installation: { topics } }: World): Promise<readonly string[]> {
  const all = await view.admin.listTopics()
  const retries = all.filter(name => name.startsWith(topics.events.replace(/events$/, 'retry.')))
  return [topics.events, ...retries.sort()]
}
