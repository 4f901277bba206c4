import { beforeEach, expect, it } from '@jest/globals'
import {
  allowLaterEvents,
  encodeSuppressions,
  mergeSuppressions,
  type Suppression,
  type UserSuppressions,
} from '../../../../src/core/deletion/suppressions.ts'
import { durationMs } from '../../../../src/core/time.ts'
import { createSuppressionList, type SuppressionList } from '../../../../src/services/deletion/suppression-list.ts'
import { MemoryLog } from '../../../support/kafka/memory-log.ts'
import { ManualClock } from '../../../support/manual-clock.ts'
import { silent } from '../../../support/telemetry/silent-logger.ts'

const topic = 'suppressions'
const retention = durationMs(30 * 24 * 3_600_000)

let clock: ManualClock
let log: MemoryLog
let one: SuppressionList
let other: SuppressionList
beforeEach(async () => {
  clock = new ManualClock()
  log = new MemoryLog(clock)
  one = await startProcess()
  other = await startProcess()
})

async function startProcess(): Promise<SuppressionList> {
  const deps = { follower: log.follower(topic), producer: log.producer(), topic, retention, clock, logger: silent }
  const created = createSuppressionList(deps)
  await created.start()
  return created
}

/** Lets the log acknowledge writes and deliver records until none are left. */
const settle = async (): Promise<void> => {
  while (log.poll()) await new Promise(resolve => setImmediate(resolve))
}

const mark = (source: string, isSuppressed = false): Suppression => ({ source, deletedAt: clock.now(), isSuppressed })

const deletion = (by: SuppressionList, added: Suppression): Promise<void> =>
  by.update('ada', held => mergeSuppressions(held, [added]))
const lift = (by: SuppressionList): Promise<void> => by.update('ada', held => held && allowLaterEvents(held))

const inEachProcess = async (): Promise<(UserSuppressions | undefined)[]> =>
  [one, other, await startProcess()].map(list => list.get('ada'))

it('a deletion that is written after a concurrent lift does not suppress the user again', async () => {
  const suppressed = mark('web', true)
  log.write(topic, Buffer.from(encodeSuppressions([suppressed])), 'ada')
  await settle()
  await clock.advance(1_000, settle)
  const deleted = mark('app')
  const both = [lift(one), deletion(other, deleted)]
  await settle()
  await Promise.all(both)
  const expected = [{ ...suppressed, isSuppressed: false }, deleted]
  expect(await inEachProcess()).toEqual([expected, expected, expected])
  expect(await one.compact(10)).toBe(0)
})

it('a compaction that is written after a concurrent lift does not suppress the user again', async () => {
  const [expired, suppressed] = [mark('app'), mark('web', true)]
  await clock.advance(durationMs(retention - 1_000), settle)
  const lasting = mark('tv', true)
  log.write(topic, Buffer.from(encodeSuppressions([expired, suppressed, lasting])), 'ada')
  await clock.advance(2_000, settle)
  const both = [lift(one), other.compact(10)]
  await settle()
  await Promise.all(both)
  const expected = [{ ...lasting, isSuppressed: false }]
  expect(await inEachProcess()).toEqual([expected, expected, expected])
  expect(await one.compact(10)).toBe(0)
})

it('a change that is made again keeps the suppression of a writer that has died', async () => {
  const [first, ofDead, added] = [mark('web'), mark('tv', true), mark('app')]
  await Promise.all([deletion(one, first), settle()])
  log.write(topic, Buffer.from(encodeSuppressions([ofDead])), 'ada', { write: 'of the dead one', 'made-of': '-1' })
  await Promise.all([deletion(one, added), settle()])
  const expected = [first, ofDead, added]
  expect(await inEachProcess()).toEqual([expected, expected, expected])
})
