import { partitionFor } from '../../../src/core/message/partition-for-key.ts'
import { packedRecords } from './compressed-records-fault.ts'
import type { Injected } from './delivery-verdict.ts'
import { userIdOf } from './event-load.ts'
import { deadLetterOf, judgeDeadLetters } from './invalid-records-verdict.ts'
import { judgePromptness, type PromptnessLimits, type Watched } from './latency-bound-verdict.ts'
import { type BadKind, badKinds, idHeader, recordLoad } from './load-with-invalid-records.ts'
import { noFault } from './no-fault.ts'
import { killProcess, restartOldest } from './process-faults.ts'
import { combineResults } from './result-of-a-check.ts'
import type { Scenario } from './scenario.ts'
import { crm, lessSlow, standardSetup, takeoverLimits } from './setups.ts'
import { partitions, type World } from './world.ts'

const kinds = Object.keys(badKinds) as readonly BadKind[]
const watchedSeconds = 20
const prompt: PromptnessLimits = { withinMs: 1_000, share: 0.999, pauseMs: 1_000 }

const allBut = (partition: number): ReadonlySet<number> =>
  new Set(Array.from({ length: partitions }, (_, index) => index).filter(each => each !== partition))

/**
 * Judges the latencies during the first fault. It is `noFault`, so only the load affects the
 * latencies.
 */
function moving(
  { ledger, patience }: World,
  [step]: readonly Injected[],
  limits: PromptnessLimits,
  parts: readonly Part[],
) {
  const watched =
    step === undefined
      ? []
      : parts.map((part): Watched => ({ ...part, from: step.at, to: step.from, destinations: [crm.id] }))
  const { deliveries } = ledger
  return judgePromptness({ acknowledged: ledger.acknowledged(), deliveries, watched, limits, patience })
}

type Part = Pick<Watched, 'what' | 'partitions'>

/**
 * One record in 20 is invalid. Half of the invalid records come one at a time, the others in a row.
 */
const poisoned = recordLoad(number => {
  const turn = number % 400
  const isBad = number % 40 === 7 || (turn >= 210 && turn < 220)
  return { userId: userIdOf(number), ...(isBad && { bad: kinds[Math.floor(number / 3) % kinds.length] as BadKind }) }
})

const hotUser = 'user-hot'
const hotPartition = partitionFor(Buffer.from(hotUser), partitions)
/** One user has 40 % of all events, more than Hookline can deliver in sequence. */
const hotKey = recordLoad(number => ({ userId: number % 5 < 2 ? hotUser : userIdOf(number) }))
const hotPerSecond = 250

const users = Map.groupBy(
  Array.from({ length: 5_000 }, (_, index) => userIdOf(index)),
  user => partitionFor(Buffer.from(user), partitions),
)
const heavy = { partition: 5, times: 100 } as const
/**
 * In a round, the heavy partition gets `heavy.times` records, and each other partition gets one.
 */
const roundLength = heavy.times + partitions - 1
const skewed = recordLoad(number => {
  const [round, place] = [Math.floor(number / roundLength), number % roundLength]
  const others = [...allBut(heavy.partition)]
  const step = Math.floor(roundLength / others.length)
  const other = place % step === 0 ? others[place / step] : undefined
  const own = users.get(other ?? heavy.partition) as readonly string[]
  return { userId: own[(other === undefined ? number : round) % own.length] as string }
})

export const unusualLoadScenarios: readonly Scenario[] = [
  {
    ...standardSetup,
    name: 'poison',
    shows:
      'one record in 20 is invalid, in twelve ways; two Kafka batches decompress to 5 MB and 200 MB; then a process gets SIGKILL, and another one SIGTERM',
    writeLoad: poisoned,
    faults: [noFault(watchedSeconds), packedRecords, killProcess, restartOldest],
    limits: { duplicates: 0, ...takeoverLimits },
    examine: async (world, injected) => {
      const { installation, ledger } = world
      const records = await installation.read(installation.topics.deadLetter)
      const deadLetters = records.map(record => deadLetterOf(record, record.headers[idHeader]))
      return combineResults([
        judgeDeadLetters({ ...ledger, deadLetters }),
        moving(world, injected, prompt, [{ what: 'valid records among invalid ones' }]),
      ])
    },
  },
  {
    ...standardSetup,
    name: 'hot-key',
    shows:
      'one user has 40 % of all events, more than Hookline can deliver, because it delivers the events of a user one after the other',
    writeLoad: hotKey,
    // The slow destination gets at most five events of the user `user-hot` per second.
    destinations: [crm, { id: 'slow', latencyMs: 200 }],
    load: { perSecond: hotPerSecond, seconds: 10 },
    faults: [noFault(watchedSeconds, allBut(hotPartition))],
    // Waiting events of `user-hot` are deferred several times, each time for longer.
    limits: { duplicates: 0, recoveryMs: 10_000, latestMs: 180_000, orderedShare: 0.4 },
    examine: async (world, injected) =>
      combineResults([
        moving(world, injected, prompt, [{ what: 'the other partitions', partitions: allBut(hotPartition) }]),
        // Other users' records wait behind those of `user-hot`, so the latency has no limit. But
        // the partition must keep delivering.
        moving(world, injected, { ...prompt, share: 0 }, [
          { what: "the hot user's partition", partitions: new Set([hotPartition]) },
        ]),
      ]),
  },
  {
    ...standardSetup,
    name: 'heavy-partition',
    shows: 'one partition has 100 times the load of each other partition',
    writeLoad: skewed,
    // One process must deliver all events of the heavy partition. `lessSlow` is fast enough for
    // this.
    destinations: [crm, lessSlow],
    load: { perSecond: 333, seconds: 10 },
    faults: [noFault(watchedSeconds)],
    limits: { duplicates: 0, recoveryMs: 10_000, latestMs: 2_000 },
    examine: async (world, injected) =>
      moving(world, injected, prompt, [
        { what: 'the heavy partition', partitions: new Set([heavy.partition]) },
        { what: 'the other partitions', partitions: allBut(heavy.partition) },
      ]),
  },
]
