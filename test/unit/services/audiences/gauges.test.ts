import { describe, expect, it } from '@jest/globals'
import { AudiencesHarness } from '../../../support/audience/harness.ts'
import { ended, observed } from '../../../support/audience/partition-harness.ts'

/** The current metrics of the consumer group `audiences`, by metric and other labels. */
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
