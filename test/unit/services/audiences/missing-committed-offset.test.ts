import { expect, it } from '@jest/globals'
import { AudiencesHarness } from '../../../support/audience/harness.ts'
import { ended, observed } from '../../../support/audience/partition-harness.ts'

const at = { topic: 'hookline.audience-input', partition: 0 }
const names = (harness: AudiencesHarness): string[] =>
  harness.sent().map(({ destination, userId, value }) => `${destination} ${userId} ${value}`)

/** Assigns the partition as if Kafka had deleted the group's offset, and the log up to `offset`. */
const assignUncommitted = async (harness: AudiencesHarness, offset: number): Promise<void> => {
  harness.consumer.handlers?.onRevoked([at])
  harness.consumer.handlers?.onAssigned([{ ...at, offset, metadata: '', isUncommitted: true }])
  await harness.advance(1)
}

it('without a committed offset, half a list does not remove the other half', async () => {
  const harness = await AudiencesHarness.started()
  harness.write(observed('ann', 0), observed('bob', 0), ended(0))
  await harness.advance(120_000)
  const offset = harness.committed()
  await assignUncommitted(harness, offset)
  harness.write(observed('bob', 1), ended(1))
  await harness.advance(1)
  expect(names(harness)).toEqual(['crm ann true', 'crm bob true'])
  expect(harness.count('positionsLost{hookline.audience-input}')).toBe(1)
  expect(harness.lines.filter(({ level }) => level === 'error')).toMatchObject([{ fields: { ...at, to: offset } }])
})

it('commits no offset before the memberships are loaded and the syncs are cancelled', async () => {
  const harness = await AudiencesHarness.started()
  harness.write(observed('ann', 0))
  await harness.advance(1)
  const { reader } = harness
  const canRead = Promise.withResolvers<void>()
  harness.reader = {
    ...reader,
    readPartition: async (...asked) => {
      await canRead.promise
      return reader.readPartition(...asked)
    },
  }
  await assignUncommitted(harness, harness.committed())
  expect(harness.consumer.handlers?.positions()).toEqual([])
  harness.log.unwritable.add(harness.topics.memberships)
  canRead.resolve()
  await harness.advance(1)
  expect(harness.consumer.handlers?.positions()).toEqual([])
  harness.log.unwritable.clear()
  await harness.advance(15_000)
  expect(harness.consumer.handlers?.positions()).toHaveLength(1)
})

it('without memberships, a partition without a committed offset has lost nothing', async () => {
  const harness = await AudiencesHarness.started()
  await assignUncommitted(harness, 3)
  expect(harness.consumer.handlers?.positions()).toMatchObject([{ ...at, offset: 3 }])
  expect(harness.count('positionsLost{hookline.audience-input}')).toBe(0)
})
