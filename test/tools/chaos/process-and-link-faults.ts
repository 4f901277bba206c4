import { setTimeout as delay } from 'node:timers/promises'
import type { ClusterNode } from '../../../deploy/tools/local/cluster.ts'
import { loadKafkajs } from '../../../src/adapters/kafka/kafkajs/kafkajs.ts'
import type { LinkState } from '../../support/network/tcp-proxy.ts'
import { peakMb } from '../bench/process-figures.ts'
import type { Member } from './fleet.ts'
import type { Delivery } from './ledger.ts'
import type { Fault, Hit } from './scenario.ts'
import { partitions, type World } from './world.ts'

/** Time limit for a thawed process to get work, and for a killed broker to catch up. */
const returnMs = 60_000

const now = (): number => performance.now()

/**
 * The recovery ends when each partition of `hit` has delivered an event sent since `from`. `counts`
 * can exclude deliveries, for example the last ones of the victim.
 */
export function onPartitions(
  hit: Iterable<number>,
  from: number,
  counts: (delivery: Delivery) => boolean = () => true,
) {
  const keyOf = (delivery: Delivery): string | undefined =>
    delivery.sent.at >= from && counts(delivery) ? String(delivery.sent.partition) : undefined
  return { keys: new Set([...hit].map(String)), from, keyOf }
}

export const allPartitions = Array.from({ length: partitions }, (_, index) => index)

export const ownedBy = ({ ledger }: World, name: string): number[] =>
  [...ledger.owners()].flatMap(([partition, owner]) => (owner === name ? [partition] : []))

/**
 * Sends SIGTERM to the oldest process and starts another one. Three times in a row this is a
 * rolling restart of three processes.
 */
export const restartOldest: Fault = {
  name: 'SIGTERM',
  async inject(world) {
    const [member] = world.fleet.members()
    if (member === undefined) throw new Error('there is no process to restart')
    const { name } = member
    const hit = ownedBy(world, name)
    const at = now()
    const code = await world.fleet.stop(member)
    await world.fleet.start()
    const problems = code === 0 ? [] : [`${name} ended with exit code ${code} after SIGTERM`]
    return { what: name, at, recovery: onPartitions(hit, at, each => each.process !== name), problems }
  },
}

/** Kills `count` random processes with SIGKILL at the same time, and starts as many others. */
export const killProcesses = (count: number): Fault => ({
  name: 'SIGKILL',
  async inject(world) {
    const { fleet, chance } = world
    const left = [...fleet.members()]
    const members = Array.from({ length: count }, () => left.splice(left.indexOf(chance.pick(left)), 1)[0]!)
    const victims = members.map(({ name }) => name)
    const hit = victims.flatMap(name => ownedBy(world, name))
    const at = now()
    await Promise.all(members.map(member => fleet.kill(member)))
    await Promise.all(members.map(() => fleet.start()))
    const recovery = onPartitions(hit, at, each => !victims.includes(each.process))
    return { what: victims.join(' '), at, victims, recovery }
  },
})

/** Kills a random process with SIGKILL and starts another one immediately. */
export const killProcess = killProcesses(1)

/**
 * Stops a random process with SIGSTOP until the others own its partitions, then sends SIGCONT. The
 * process must notice that it has lost its session.
 */
export const freezeProcess: Fault = {
  name: 'SIGSTOP',
  async inject(world) {
    const { fleet, ledger, chance, patience } = world
    // A process without partitions would be thawed immediately and prove nothing.
    const member = chance.pick(fleet.members().filter(each => ownedBy(world, each.name).length > 0))
    const { name } = member
    const hit = ownedBy(world, name)
    const at = now()
    fleet.freeze(member)
    return {
      what: name,
      at,
      victims: [name],
      recovery: onPartitions(hit, at, each => each.process !== name),
      async heal() {
        const from = now()
        fleet.thaw(member)
        // Requests in progress at the freeze do not show that the process is back.
        const keyOf = ({ sent, process }: Delivery): string | undefined => (sent.at >= from ? process : undefined)
        const back = await ledger.seen(new Set([name]), { from, keyOf, patienceMs: returnMs * patience })
        return back === undefined ? [`${name} has delivered nothing since it was thawed`] : []
      },
    }
  },
}

/**
 * Stops a random process with SIGSTOP for less than its session timeout, then sends SIGCONT. The
 * process keeps its partitions, and nothing may be duplicated.
 */
export const suspendProcess = (seconds: number): Fault => ({
  name: `SIGSTOP ${seconds} s`,
  async inject(world) {
    const { fleet, chance } = world
    const member = chance.pick(fleet.members().filter(each => ownedBy(world, each.name).length > 0))
    const hit = ownedBy(world, member.name)
    const at = now()
    fleet.freeze(member)
    await delay(seconds * 1_000)
    fleet.thaw(member)
    return { what: member.name, at, recovery: onPartitions(hit, now()) }
  },
})

const mebibyte = 1_048_576
/**
 * Maximum resident memory while a process reads a batch that unpacks to 200 MB: its normal memory
 * and one batch of limited size.
 */
const packedPeakMb = 700

/**
 * Another producer writes two compressed batches. One unpacks to 5 MB, more than any topic accepts;
 * the other one to 200 MB. The recovery ends when each partition has delivered an event that was
 * written after the batches.
 */
export const packedRecords: Fault = {
  name: 'compressed records',
  async inject({ cluster, installation, fleet }) {
    const { CompressionTypes, Kafka, logLevel } = loadKafkajs()
    const producer = new Kafka({ brokers: [...cluster.brokers], logLevel: logLevel.NOTHING }).producer()
    await producer.connect()
    const at = now()
    for (const bytes of [5 * mebibyte, 200 * mebibyte]) {
      const messages = [{ key: null, value: Buffer.alloc(bytes), partition: 0 }]
      await producer.send({ topic: installation.topics.events, compression: CompressionTypes.GZIP, messages })
    }
    await producer.disconnect()
    return {
      what: '5 and 200 MB',
      at,
      recovery: onPartitions(allPartitions, now()),
      heal: async () =>
        fleet
          .members()
          .filter(({ service }) => peakMb(service.pid) > packedPeakMb)
          .map(({ name, service }) => `${name} had ${Math.round(peakMb(service.pid))} MB resident`),
    }
  },
}

/** Starts one more process. The recovery ends when this process delivers. */
export const joinProcess: Fault = {
  name: 'join',
  async inject({ fleet }) {
    const at = now()
    const { name } = await fleet.start()
    return { what: name, at, recovery: { keys: new Set([name]), from: at, keyOf: ({ process }) => process } }
  },
}

/**
 * Kills a random leader of the events topic with SIGKILL. The broker is started again when others
 * lead its partitions.
 */
export const killLeader: Fault = {
  name: 'leader killed',
  async inject(world) {
    const leaders = await world.view.leaders(world.installation.topics.events)
    const nodes = [...new Set([...leaders.values()].map(({ node }) => node))].sort((a, b) => a - b)
    const id = world.chance.pick(nodes)
    const hit = [...leaders].flatMap(([partition, { node }]) => (node === id ? [partition] : []))
    return killNode(world, id, hit)
  },
}

/** Kills the group coordinator with SIGKILL. */
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
 * Starts the broker and waits until every replica is in sync. Otherwise the next fault would be the
 * loss of two of three brokers.
 */
export async function bringBack(
  { view, cluster, installation, patience }: World,
  node: ClusterNode,
): Promise<string[]> {
  await node.start()
  const deadline = now() + returnMs * patience
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

/**
 * Kills all brokers with SIGKILL at the same time, as a power failure does, and starts them after
 * `seconds`.
 */
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

/** The recovery ends when a message that this collector accepted is delivered. */
const takes = ({ name }: Member, from: number): Hit['recovery'] => ({
  keys: new Set([name]),
  from,
  keyOf: ({ sent }) => sent.through,
})

/** Kills a random collector with SIGKILL and starts another one immediately. */
export const killCollector: Fault = {
  name: 'SIGKILL',
  async inject({ collectors, chance }) {
    const member = chance.pick(collectors.members())
    const at = now()
    await collectors.kill(member)
    const next = await collectors.start()
    return { what: member.name, at, victims: [member.name], recovery: takes(next, at) }
  },
}

/** Sends SIGTERM to the oldest collector, then starts another one. */
export const restartCollector: Fault = {
  name: 'SIGTERM',
  async inject({ collectors }) {
    const [member] = collectors.members()
    if (member === undefined) throw new Error('there is no collector to restart')
    const at = now()
    const code = await collectors.stop(member)
    const next = await collectors.start()
    const problems = code === 0 ? [] : [`${member.name} ended with exit code ${code} after SIGTERM`]
    return { what: member.name, at, recovery: takes(next, at), problems }
  },
}

/** Impairs the links between all processes and all brokers for `seconds`. */
export const impairLink = (state: LinkState, seconds: number): Fault => ({
  name: `link ${state.kind} ${seconds} s`,
  async inject({ proxies }) {
    if (proxies.length === 0) throw new Error('the scenario has no proxies')
    const at = now()
    for (const proxy of proxies) proxy.set(state)
    await delay(seconds * 1_000)
    for (const proxy of proxies) proxy.set({ kind: 'open' })
    return { what: 'every broker', at, recovery: onPartitions(allPartitions, now()) }
  },
})

/** Does nothing for `seconds`, to observe the set-up alone. Then these partitions must deliver. */
export const noFault = (seconds: number, partitions: Iterable<number> = allPartitions): Fault => ({
  name: 'watched',
  async inject() {
    const at = now()
    await delay(seconds * 1_000)
    return { what: `for ${seconds} s`, at, recovery: onPartitions(partitions, now()) }
  },
})
