import { partitionFor } from '../../../src/core/message/event.ts'
import { judgeDeadLetters } from './dead-letters.ts'
import { watch } from './endpoint-faults.ts'
import { together } from './examined.ts'
import { killProcess, packedRecords, restartOldest } from './faults.ts'
import { userIdOf } from './load.ts'
import { judgePromptness, type PromptnessLimits, type Watched } from './promptness.ts'
import { type BadKind, badKinds, idHeader, recordLoad } from './record-load.ts'
import type { Scenario } from './scenario.ts'
import { crm, standard, takenOver } from './setups.ts'
import type { Injected } from './verdict.ts'
import { partitions, type World } from './world.ts'

/** Written by `packedRecords`; one may be there twice after a kill. */
const packedRecordsCount = 2
const kinds = Object.keys(badKinds) as readonly BadKind[]
const watchedSeconds = 20
const prompt: PromptnessLimits = { withinMs: 1_000, share: 0.999, pauseMs: 1_000 }

const allBut = (partition: number): ReadonlySet<number> =>
  new Set(Array.from({ length: partitions }, (_, index) => index).filter(each => each !== partition))

/** How all partitions, or all but one, moved in the first thing that was injected, in which nothing was done. */
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

/** One record in 20; each kind at times by itself and at times, as when a producer has gone wrong, several in a row. */
const poisoned = recordLoad(number => {
  const turn = number % 400
  const isBad = number % 40 === 7 || (turn >= 210 && turn < 220)
  return { userId: userIdOf(number), ...(isBad && { bad: kinds[Math.floor(number / 3) % kinds.length] as BadKind }) }
})

const hotUser = 'user-hot'
const hotPartition = partitionFor(Buffer.from(hotUser), partitions)
/** One user has 40 % of all, more than one call after the other takes. */
const hotKey = recordLoad(number => ({ userId: number % 5 < 2 ? hotUser : userIdOf(number) }))
const hotPerSecond = 250

/** Users of each partition. */
const users = Map.groupBy(
  Array.from({ length: 5_000 }, (_, index) => userIdOf(index)),
  user => partitionFor(Buffer.from(user), partitions),
)
const heavy = { partition: 5, times: 100 } as const
/** In each round every other partition has one record, and this one a hundred. */
const roundLength = heavy.times + partitions - 1
const skewed = recordLoad(number => {
  const [round, place] = [Math.floor(number / roundLength), number % roundLength]
  const others = [...allBut(heavy.partition)]
  // Spread evenly over the round.
  const step = Math.floor(roundLength / others.length)
  const other = place % step === 0 ? others[place / step] : undefined
  const own = users.get(other ?? heavy.partition) as readonly string[]
  return { userId: own[(other === undefined ? number : round) % own.length] as string }
})

export const ofRecords: readonly Scenario[] = [
  {
    ...standard,
    name: 'poison',
    shows:
      'one record in 20 is no event, in twelve ways, false canonical ones and a megabyte each among them; two that unpack to 5 and 200 MB; at last a SIGKILL and a SIGTERM',
    writeLoad: poisoned,
    faults: [watch(watchedSeconds), packedRecords, killProcess, restartOldest],
    limits: { duplicates: 0, ...takenOver },
    examine: async (world, injected) => {
      const { pipeline, ledger } = world
      const records = await pipeline.read(pipeline.topics.deadLetter)
      const deadLetters = records.map(({ headers }) => ({ id: headers[idHeader], reason: headers['reason'] ?? 'none' }))
      return together([
        judgeDeadLetters({ bad: ledger.bad, deadLetters, withoutId: packedRecordsCount }),
        moving(world, injected, prompt, [{ what: 'good ones among bad ones' }]),
      ])
    },
  },
  {
    ...standard,
    name: 'hot-key',
    shows: 'one user has 40 % of all events, more than one call after the other takes',
    writeLoad: hotKey,
    load: { perSecond: hotPerSecond, seconds: 10 },
    faults: [watch(watchedSeconds, allBut(hotPartition))],
    limits: { duplicates: 0, recoveryMs: 10_000, latestMs: 20_000 },
    examine: async (world, injected) =>
      together([
        moving(world, injected, prompt, [{ what: 'the other partitions', partitions: allBut(hotPartition) }]),
        // What one user has too much of waits, and with it who is behind it; but it moves.
        moving(world, injected, { ...prompt, share: 0 }, [
          { what: "the hot user's partition", partitions: new Set([hotPartition]) },
        ]),
      ]),
  },
  {
    ...standard,
    name: 'heavy-partition',
    shows: 'one partition has 100 times the load of each other one',
    writeLoad: skewed,
    load: { perSecond: 333, seconds: 10 },
    faults: [watch(watchedSeconds)],
    limits: { duplicates: 0, recoveryMs: 10_000, latestMs: 2_000 },
    examine: async (world, injected) =>
      moving(world, injected, prompt, [
        { what: 'the heavy partition', partitions: new Set([heavy.partition]) },
        { what: 'the others', partitions: allBut(heavy.partition) },
      ]),
  },
]
