import { describe, expect, it } from '@jest/globals'
import { membershipKey } from '../../../../src/core/audience/membership-and-watermark-records.ts'
import { AudiencesHarness } from '../../../support/audience/harness.ts'
import { audience, ended, observed } from '../../../support/audience/partition-harness.ts'

const keyOf = (userId: string) => membershipKey({ audience, userId, destination: 'crm' })

/**
 * Starts a harness in which Ann's change is acknowledged. `stale` is the first record of her
 * membership, in which the change is not acknowledged yet.
 */
async function acknowledged() {
  const harness = await AudiencesHarness.started()
  harness.write(observed('ann', 0), ended(0))
  await harness.advance(1_000)
  const all = harness.log.records(harness.topics.memberships)
  const written = all.filter(({ key }) => String(key) === keyOf('ann'))
  const [stale, newest] = [written.at(0), written.at(-1)]
  if (stale === undefined || newest === undefined) throw new Error('nothing was written')
  expect(inFlightIn(harness, stale.value)).not.toBeNull()
  /** Writes the stale record again, as a late write of the previous owner of the partition. */
  const arriveLate = () => harness.log.writeTo(0, harness.topics.memberships, stale.value, {}, keyOf('ann'))
  return { harness, newest, arriveLate }
}

const inFlightIn = ({ memberships }: AudiencesHarness, value: Buffer | null) => {
  const read = memberships.decode(value as Buffer)
  return read.kind === 'value' ? read.value.membership?.inFlight : undefined
}
const lastOf = (harness: AudiencesHarness, userId: string) =>
  String(harness.log.records(harness.topics.memberships).findLast(({ key }) => String(key) === keyOf(userId))?.value)

describe('a state of an earlier owner that arrives late', () => {
  it('before a restart is replaced by the newer state', async () => {
    const { harness, newest, arriveLate } = await acknowledged()
    arriveLate()
    harness.consumer.rebalance()
    await harness.advance(1_000)
    expect(lastOf(harness, 'ann')).toEqual(String(newest.value))
    expect(harness.count('audienceStaleStates{}')).toBe(1)
  })

  it('while another process owns the partition is found at the next write, and replaced by the newer state', async () => {
    const { harness, newest, arriveLate } = await acknowledged()
    arriveLate()
    harness.write(observed('bob', 1, 'true', 'partial'))
    await harness.advance(1_000)
    expect(lastOf(harness, 'ann')).toEqual(String(newest.value))
  })

  it('while the owner writes nothing is found by the log check within ten minutes', async () => {
    const { harness, newest, arriveLate } = await acknowledged()
    arriveLate()
    await harness.advance(10 * 60_000)
    expect(lastOf(harness, 'ann')).toEqual(String(newest.value))
  })

  it('is not restored after compaction: the newer state was written again', async () => {
    const { harness, arriveLate } = await acknowledged()
    arriveLate()
    await harness.advance(10 * 60_000)
    harness.reader = harness.log.reader({ isCompacted: true })
    await harness.restart()
    harness.write(observed('ann', 20, 'false', 'partial'))
    await harness.advance(1_000)
    expect(harness.sent().map(({ userId, value }) => [userId, value])).toEqual([
      ['ann', 'true'],
      ['ann', 'false'],
    ])
  })
})

it('a memberships topic that only its owner writes to is read once, at the start', async () => {
  const harness = await AudiencesHarness.started()
  await harness.advance(1_000)
  const { reader } = harness
  let reads = 0
  harness.reader = {
    ...reader,
    readPartition(...asked) {
      reads++
      return reader.readPartition(...asked)
    },
  }
  harness.write(observed('ann', 0), observed('bob', 0), ended(0))
  await harness.advance(60 * 60_000)
  expect([reads, harness.count('audienceStaleStates{}')]).toEqual([0, 0])
})
