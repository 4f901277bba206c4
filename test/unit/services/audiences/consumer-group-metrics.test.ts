import { describe, expect, it } from '@jest/globals'
import { AudiencesHarness } from '../../../support/audience/harness.ts'
import { audience, ended, observed } from '../../../support/audience/partition-harness.ts'

function shown(harness: AudiencesHarness): Record<string, number> {
  harness.service.refreshGauges()
  const own = [...harness.counts].filter(([key]) => key.includes('{audiences'))
  return Object.fromEntries(own.map(([key, value]) => [key.replace(/\{audiences,?/, ' ').replace(/ ?\}$/, ''), value]))
}

describe("the group's metrics", () => {
  it('count inputs as the dispatcher counts events', async () => {
    const harness = await AudiencesHarness.started({ partitions: 2, fate: () => 'silent' })
    harness.write(observed('ann', 1), observed('bob', 1), ended(1))
    await harness.advance(1)
    expect(shown(harness)).toMatchObject({
      recordsConsumed: 4,
      'recordsFinished done': 4,
      'recordsFinished handed_back': 0,
      groupJoins: 0,
      assignedPartitions: 2,
    })
    harness.write(observed('ann', 2))
    await harness.advance(1)
    expect(shown(harness)).toMatchObject({ recordsConsumed: 5, 'recordsFinished done': 5 })
  })

  it('count inputs as handed back when they are not done at a revocation', async () => {
    const harness = await AudiencesHarness.started({ partitions: 2 })
    harness.log.unwritable.add(harness.topics.events)
    harness.write(observed('ann', 1))
    await harness.advance(1)
    expect(shown(harness)).toMatchObject({ recordsConsumed: 1, 'recordsFinished done': 0 })
    const { audienceInput } = harness.topics
    const partitions = [0, 1].map(partition => ({ topic: audienceInput, partition }))
    void harness.consumer.handlers?.onRevoking(partitions, Number.POSITIVE_INFINITY)
    harness.consumer.handlers?.onRevoked(partitions)
    expect(shown(harness)).toMatchObject({
      'recordsFinished done': 0,
      'recordsFinished handed_back': 1,
      groupJoins: 1,
      assignedPartitions: 0,
    })
  })
})

it('the lag includes the inputs of a partition whose memberships cannot be loaded', async () => {
  const harness = new AudiencesHarness()
  harness.reader = { ...harness.reader, readPartition: () => Promise.reject(new Error('no broker')) }
  await harness.service.start()
  harness.write(observed('ann', 1), observed('bob', 1))
  await harness.advance(5_000)
  harness.service.refreshGauges()
  expect(harness.count('audienceInputLag{0}')).toBe(2)
})

describe('the progress of a partition', () => {
  const minute = 60_000

  /** Scrapes once a minute. Returns the ages in seconds that the gauges show at the end. */
  async function scrapeFor(minutes: number, harness: AudiencesHarness, eachMinute = () => {}) {
    for (let count = 0; count < minutes; count++) {
      eachMinute()
      await harness.advance(minute)
      harness.service.refreshGauges()
    }
    const { audienceInput } = harness.topics
    const age = (series: string): number => harness.clock.now() / 1_000 - (harness.counts.get(series) ?? Number.NaN)
    return { progress: age(`partitionProgress{${audienceInput},0}`), oldest: age(`oldestRecord{${audienceInput}}`) }
  }

  it.each(['events', 'memberships', 'deadLetter'] as const)(
    'stays, and its topic counts as unwritable, while the topic "%s" accepts no records',
    async name => {
      const harness = await AudiencesHarness.started()
      harness.log.unwritable.add(harness.topics[name])
      if (name === 'deadLetter') harness.log.write(harness.topics.audienceInput, Buffer.from('not JSON'), 'ann')
      else harness.write(observed('ann', 1))
      expect(await scrapeFor(15, harness)).toEqual({ progress: 14 * 60, oldest: 15 * 60 })
      expect(harness.service.unwritableTopics()).toEqual([harness.topics[name]])
      harness.log.unwritable.clear()
      expect(await scrapeFor(1, harness)).toEqual({ progress: 0, oldest: 0 })
      expect(harness.service.unwritableTopics()).toEqual([])
    },
  )

  it('is the current time while updates wait for their turn', async () => {
    const harness = await AudiencesHarness.started({ emitPerSecond: 1 })
    harness.emitPerSecond = 0.001
    harness.write(observed('ann', 1), observed('bob', 1))
    expect((await scrapeFor(15, harness)).progress).toBe(0)
  })

  it('is the time of the last write of an input that changes many users', async () => {
    const harness = await AudiencesHarness.started()
    for (let user = 0; user < 20; user++) harness.write(observed(`user-${user}`, 1))
    await harness.advance(minute)
    let left = 0
    Object.assign(harness.log, { unwritable: { has: () => left-- <= 0 } })
    harness.write({ kind: 'reset', audience, destination: undefined })
    const write = () => {
      left = 1
    }
    expect((await scrapeFor(15, harness, write)).progress).toBe(0)
    expect((await scrapeFor(15, harness)).progress).toBe(15 * 60)
  })
})
