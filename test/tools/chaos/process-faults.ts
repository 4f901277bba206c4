import { setTimeout as delay } from 'node:timers/promises'
import type { Member } from './fleet.ts'
import type { Delivery } from './message-ledger.ts'
import { allPartitions, now, onPartitions, ownedBy } from './recovery-condition.ts'
import type { Fault, Hit } from './scenario.ts'
import type { World } from './world.ts'

/** Time limit in ms for a process to deliver again after SIGCONT. */
const returnMs = 60_000

/**
 * The processes that own partitions, oldest first. A fault of another process would prove nothing.
 */
const owners = (world: World): Member[] => world.fleet.members().filter(({ name }) => ownedBy(world, name).length > 0)

/** Sends SIGTERM to the oldest process that owns partitions, and then starts another one. */
export const restartOldest: Fault = {
  name: 'SIGTERM',
  async inject(world) {
    const [member] = owners(world)
    if (member === undefined) throw new Error('no process owns partitions')
    const { name } = member
    const hit = ownedBy(world, name)
    const at = now()
    const code = await world.fleet.stop(member)
    await world.fleet.start()
    const problems = code === 0 ? [] : [`${name} ended with exit code ${code} after SIGTERM`]
    return { what: name, at, recovery: onPartitions(hit, at, each => each.process !== name), problems }
  },
}

/** Kills `count` random processes, of which at least one owns partitions, and starts as many. */
export const killProcesses = (count: number): Fault => ({
  name: 'SIGKILL',
  async inject(world) {
    const { fleet, chance } = world
    const first = chance.pick(owners(world))
    const left = fleet.members().filter(each => each !== first)
    const others = Array.from({ length: count - 1 }, () => left.splice(left.indexOf(chance.pick(left)), 1)[0]!)
    const members = [first, ...others]
    const victims = members.map(({ name }) => name)
    const hit = victims.flatMap(name => ownedBy(world, name))
    const at = now()
    await Promise.all(members.map(member => fleet.kill(member)))
    await Promise.all(members.map(() => fleet.start()))
    const recovery = onPartitions(hit, at, each => !victims.includes(each.process))
    return { what: victims.join(' '), at, victims, recovery }
  },
})

export const killProcess = killProcesses(1)

/**
 * Freezes a random process until others own its partitions. The process must then notice that it
 * has lost its session.
 */
export const freezeProcess: Fault = {
  name: 'SIGSTOP',
  async inject(world) {
    const { fleet, ledger, chance, patience } = world
    const member = chance.pick(owners(world))
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
        // Requests in progress at SIGSTOP prove nothing, so only messages that were sent after
        // SIGCONT count.
        const keyOf = ({ sent, process }: Delivery): string | undefined => (sent.at >= from ? process : undefined)
        const back = await ledger.seen(new Set([name]), { from, keyOf, patienceMs: returnMs * patience })
        return back === undefined ? [`${name} has delivered nothing since it was thawed`] : []
      },
    }
  },
}

/**
 * Freezes a random process for less than its session timeout. It keeps its partitions, so nothing
 * may be duplicated.
 */
export const suspendProcess = (seconds: number): Fault => ({
  name: `SIGSTOP ${seconds} s`,
  async inject(world) {
    const { fleet, chance } = world
    const member = chance.pick(owners(world))
    const hit = ownedBy(world, member.name)
    const at = now()
    fleet.freeze(member)
    await delay(seconds * 1_000)
    fleet.thaw(member)
    return { what: member.name, at, recovery: onPartitions(hit, now()) }
  },
})

/** Starts one more process. The recovery ends when this process delivers. */
export const joinProcess: Fault = {
  name: 'join',
  async inject({ fleet }) {
    const at = now()
    const { name } = await fleet.start()
    return { what: name, at, recovery: { keys: new Set([name]), from: at, keyOf: ({ process }) => process } }
  },
}

/** The condition for a recovery: a message that this collector accepted is delivered. */
const takes = ({ name }: Member, from: number): Hit['recovery'] => ({
  keys: new Set([name]),
  from,
  keyOf: ({ sent }) => sent.through,
})

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

/**
 * Kills a random operator process, and starts another one. The recovery ends when every partition
 * has delivered an event that was sent after the kill.
 */
export const killOperator: Fault = {
  name: 'SIGKILL',
  async inject({ operators, chance }) {
    const member = chance.pick(operators.members())
    const at = now()
    await operators.kill(member)
    await operators.start()
    return { what: member.name, at, victims: [member.name], recovery: onPartitions(allPartitions, at) }
  },
}

export const killAnyProcess: Fault = {
  name: 'SIGKILL',
  inject: world => world.chance.pick([killProcess, killCollector, killOperator]).inject(world),
}

export const killDispatcherOrOperator: Fault = {
  name: 'SIGKILL',
  inject: world => world.chance.pick([killProcess, killOperator]).inject(world),
}

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
