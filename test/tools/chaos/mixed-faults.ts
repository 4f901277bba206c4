import { setTimeout as delay } from 'node:timers/promises'
import {
  allPartitions,
  freezeProcess,
  killCoordinator,
  killLeader,
  killProcess,
  restartOldest,
  spoilLink,
} from './faults.ts'
import type { Delivery } from './ledger.ts'
import type { Script } from './receiver.ts'
import type { Fault, Hit } from './scenario.ts'

/** Of a pair, the second comes so much later at most, while the first is under way. */
const apartMs = 2_000

/** One endpoint does this with every call for so long, then what it did before. */
const unwell = (destination: string, kind: string, script: Script, well: Script): Fault => ({
  name: `endpoint ${kind} 8 s`,
  async inject({ receiver }) {
    const at = performance.now()
    receiver.follow(destination, script)
    await delay(8_000)
    receiver.follow(destination, well)
    return { what: destination, at, recovery: { keys: new Set(), from: performance.now(), keyOf: () => undefined } }
  },
})

/** Two faults of different sorts at once, which ones and how far apart as the seed says. Of all `destinations` the first with a script is the one that may be unwell. */
export function pairOfFaults(destinations: readonly { readonly id: string; readonly script?: Script }[]): Fault {
  const { id: weak = '', script: well = () => 200 } = destinations.find(({ script }) => script !== undefined) ?? {}
  const sorts: readonly (readonly Fault[])[] = [
    [killProcess, restartOldest, freezeProcess],
    [killLeader, killCoordinator],
    [
      spoilLink({ kind: 'delayed', ms: 300 }, 8),
      spoilLink({ kind: 'cut' }, 8),
      spoilLink({ kind: 'reset' }, 5),
      spoilLink({ kind: 'half-open' }, 12),
      spoilLink({ kind: 'answers-lost' }, 12),
    ],
    [
      unwell(weak, 'answers 503', () => 503, well),
      unwell(weak, 'hangs', () => 'hang', well),
      unwell(weak, 'resets', () => 'reset', well),
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
      return both([one.name, other.name], hits, ids)
    },
  }
}

/** Recovered when each destination is delivered to on each partition what was sent after both. */
function both(names: readonly string[], hits: readonly Hit[], destinations: readonly string[]): Hit {
  const from = Math.max(...hits.map(({ recovery }) => recovery.from))
  const keys = allPartitions.flatMap(partition => destinations.map(destination => `${partition} ${destination}`))
  const keyOf = ({ sent, destination }: Delivery): string | undefined =>
    sent.at >= from ? `${sent.partition} ${destination}` : undefined
  return {
    what: hits.map(({ what }, index) => `${names[index]} ${what}`).join(' and '),
    at: Math.min(...hits.map(({ at }) => at)),
    recovery: { keys: new Set(keys), from, keyOf },
    victims: hits.flatMap(({ victims = [] }) => victims),
    problems: hits.flatMap(({ problems = [] }) => problems),
    async heal() {
      const found: string[] = []
      for (const hit of hits) found.push(...((await hit.heal?.()) ?? []))
      return found
    },
  }
}
