import { shiftClock, startWithClock } from './clock-faults.ts'
import { numberOf } from './event-load.ts'
import { isSuccess } from './message-ledger.ts'
import type { Script } from './receiver.ts'
import { retriesOf } from './records-after-run.ts'
import { type CheckResult, combineResults } from './result-of-a-check.ts'
import { judgeAttempts } from './retry-times-and-rate-verdict.ts'
import type { Scenario } from './scenario.ts'
import { crm, standardSetup } from './setups.ts'

const hour = 3_600
const processes = 2

/** One message in ten fails its first two attempts, so two retry topics always have records. */
const tenthFailsTwice: Script = (id, call) => (call <= 2 && numberOf(id) % 10 === 0 ? 503 : 200)

/**
 * Judges the number of records in the retry topics. Each failed attempt writes one record, and the
 * next owner of the partition may write this record again.
 */
function judgeCopies({ records, failed }: { readonly records: number; readonly failed: number }): CheckResult {
  const atMost = Math.ceil(failed * 1.5) + 500
  return {
    measured: [`${records} records in the retry topics for ${failed} failed attempts`],
    failures:
      records > atMost ? [`${records} records in the retry topics for ${failed} failed attempts, limit ${atMost}`] : [],
  }
}

export const clockScenarios: readonly Scenario[] = [
  {
    ...standardSetup,
    name: 'clock',
    shows:
      'the wall clock of both processes jumps an hour ahead for 20 s, then an hour back for 20 s; deliveries wait in retry topics',
    processes,
    destinations: [crm, { id: 'fails-twice', script: tenthFailsTwice }],
    delivery: { schedule: ['5s', '10s'] },
    load: { perSecond: 100, seconds: 20 },
    ownClock: true,
    faults: [shiftClock(hour, 20), shiftClock(-hour, 20)],
    limits: { duplicates: 0, recoveryMs: 10_000, latestMs: 30_000 },
    examine: async ({ ledger: { calls }, patience }) =>
      judgeAttempts({
        ...{ destination: 'fails-twice', calls, patience, schedule: [5_000, 10_000] },
        limits: { maxDelayMs: 3_000, maxConcurrent: 2 * 64, minRetries: 1 },
      }),
  },
  {
    ...standardSetup,
    name: 'clock-at-start',
    shows:
      'two processes are replaced by processes whose clocks are wrong from the start: by ±1 min, then by ±1 h; deliveries wait in retry topics',
    processes,
    destinations: [crm, { id: 'fails-twice', latencyMs: 100, script: tenthFailsTwice }],
    delivery: { schedule: ['5s', '10s'] },
    load: { perSecond: 100, seconds: 20 },
    calmMs: { from: 15_000, to: 20_000 },
    faults: [60, -60, hour, -hour].map(startWithClock),
    limits: { duplicates: 0, recoveryMs: 20_000, latestMs: 40_000 },
    examine: async (world, _injected) => {
      const { calls } = world.ledger
      const { records } = await retriesOf(world, ['5s', '10s'])
      const failed = calls.filter(call => !isSuccess(call)).length
      const attempts = judgeAttempts({
        ...{ destination: 'fails-twice', calls, patience: world.patience, schedule: [5_000, 10_000] },
        limits: { maxDelayMs: 12_000, maxConcurrent: 4 * 64, minRetries: 1 },
      })
      return combineResults([attempts, judgeCopies({ records, failed })])
    },
  },
]
