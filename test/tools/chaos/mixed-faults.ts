import { setTimeout as delay } from 'node:timers/promises'
import { killCoordinator, killLeader } from './broker-faults.ts'
import { impairLink } from './link-faults.ts'
import type { Delivery } from './message-ledger.ts'
import { freezeProcess, killProcess, restartOldest } from './process-faults.ts'
import type { Script } from './receiver.ts'
import { allPartitions } from './recovery-condition.ts'
import type { Fault, Hit } from './scenario.ts'

/** Maximum time between the starts of two concurrent faults, in ms. */
const apartMs = 2_000

/** For 8 s, the endpoint follows `script`, and then `usual` again. */
const failingEndpoint = (destination: string, kind: string, script: Script, usual: Script): Fault => ({
  name: `endpoint ${kind} 8 s`,
  async inject({ receiver }) {
    const at = performance.now()
    receiver.follow(destination, script)
    await delay(8_000)
    receiver.follow(destination, usual)
    return { what: destination, at, recovery: { keys: new Set(), from: performance.now(), keyOf: () => undefined } }
  },
})

/**
 * Injects two concurrent faults of different kinds. The endpoint that can fail is the first of
 * `destinations` with a script.
 */
export function pairOfFaults(destinations: readonly { readonly id: string; readonly script?: Script }[]): Fault {
  const { id: failing = '', script: usual = () => 200 } = destinations.find(({ script }) => script !== undefined) ?? {}
  const sorts: readonly (readonly Fault[])[] = [
    [killProcess, restartOldest, freezeProcess],
    [killLeader, killCoordinator],
    [
      impairLink({ kind: 'delayed', ms: 300 }, 8),
      impairLink({ kind: 'cut' }, 8),
      impairLink({ kind: 'reset' }, 5),
      impairLink({ kind: 'half-open' }, 12),
      impairLink({ kind: 'answers-lost' }, 12),
    ],
    [
      failingEndpoint(failing, 'answers 503', () => 503, usual),
      failingEndpoint(failing, 'hangs', () => 'hang', usual),
      failingEndpoint(failing, 'resets', () => 'reset', usual),
    ],
  ]
  const ids = destinations.map(({ id }) => id)
  return {
    name: 'both',
    async inject(world) {
      const { chance } = world
      const first = chance.pick(sorts)
      const second = chance.pick(sorts.filter(sort => sort !== first))
      const [one, other] = [chance.pick(first), chance.pick(second)]
      const apart = chance.between(0, apartMs)
      const hits = await Promise.all([one.inject(world), delay(apart).then(() => other.inject(world))])
      return pairOfHits([one.name, other.name], hits, ids)
    },
  }
}

/**
 * The recovery ends when each destination has got, from each partition, a message that was sent
 * after both faults.
 */
export function pairOfHits(names: readonly string[], hits: readonly Hit[], destinations: readonly string[]): Hit {
  const from = Math.max(...hits.map(({ recovery }) => recovery.from))
  const keys = allPartitions.flatMap(partition => destinations.map(destination => `${partition} ${destination}`))
  const keyOf = ({ sent, destination }: Delivery): string | undefined =>
    sent.at >= from ? `${sent.partition} ${destination}` : undefined
  return {
    what: hits.map(({ what }, index) => `${names[index]} ${what}`).join(' and '),
    at: Math.min(...hits.map(({ at }) => at)),
    recovery: { keys: new Set(keys), from, keyOf },
    victims: hits.flatMap(({ victims = [] }) => victims),
    victimsAt: hits.find(({ victims = [] }) => victims.length > 0)?.at,
    problems: hits.flatMap(({ problems = [] }) => problems),
    async heal() {
      const found: string[] = []
      for (const hit of hits) found.push(...((await hit.heal?.()) ?? []))
      return found
    },
  }
}
