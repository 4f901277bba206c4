import { expect, it } from '@jest/globals'
import { durationMs } from '../../../../src/core/time.ts'
import { AudiencesHarness } from '../../../support/audience/harness.ts'
import { ended, observed } from '../../../support/audience/partition-harness.ts'

const names = (harness: AudiencesHarness): string[] =>
  harness.sent().map(({ destination, userId, value }) => `${destination} ${userId} ${value}`)

it('a line of a sync that is read behind a deletion does not add the user again, while the suppressions are late', async () => {
  const harness = await AudiencesHarness.started()
  harness.write(observed('ann', 0), observed('bob', 0))
  await harness.advance(60_000)
  // Kafka has the suppression, but this process has not read it yet.
  const deletedAt = harness.clock.now()
  harness.marksAge = durationMs(1_000)
  harness.write({ kind: 'forgotten', userId: 'ann' }, observed('ann', 0), ended(0))
  await harness.advance(500)
  expect(harness.count('audienceInputs{forgotten,changed}')).toBe(0)
  harness.marks.apply('ann', [{ source: undefined, deletedAt, isSuppressed: false }])
  harness.marksAge = durationMs(0)
  await harness.advance(100)
  expect(names(harness)).toEqual(['crm ann true', 'crm bob true'])
  expect(harness.count('audienceInputs{forgotten,changed}')).toBe(1)
  expect(harness.count('audienceInputs{observed,user_deleted}')).toBe(1)
  expect(harness.committed()).toBe(harness.log.records(harness.topics.audienceInput).length)
})

it('a message of a sync that began before a deletion has an earlier receive time, so that the dispatcher drops it', async () => {
  const harness = await AudiencesHarness.started()
  await harness.advance(60_000)
  const deletedAt = harness.clock.now()
  await harness.advance(10)
  harness.write(observed('ann', 0))
  await harness.advance(100)
  harness.write(ended(2))
  await harness.advance(100)
  const messages = harness.log.records(harness.topics.events).map(({ value }) => JSON.parse(String(value)))
  expect(messages.map(({ message }) => message.traits)).toEqual(
    [true, false].map(value => expect.stringContaining(`${value}`)),
  )
  harness.marks.apply('ann', [{ source: undefined, deletedAt, isSuppressed: false }])
  for (const each of messages)
    expect(harness.marks.stops({ ...each, ...each.message }, harness.clock.now())).toBe('user_deleted')
})

it('a deletion that waited and changes nothing does not stop the inputs behind it', async () => {
  const harness = await AudiencesHarness.started()
  harness.marksAge = durationMs(1_000)
  harness.write({ kind: 'forgotten', userId: 'eve' }, observed('ann', 0), observed('bob', 0))
  await harness.advance(500)
  harness.marksAge = durationMs(0)
  await harness.advance(100)
  expect(harness.count('audienceInputs{forgotten,unchanged}')).toBe(1)
  expect(names(harness)).toEqual(['crm ann true', 'crm bob true'])
})

it('later inputs do not prolong the wait of a deletion', async () => {
  const harness = await AudiencesHarness.started()
  harness.marksAge = durationMs(500)
  for (let step = 0; step < 44; step++) {
    if (step < 20) harness.write({ kind: 'forgotten', userId: `user-${step}` })
    harness.write(observed('bob', 0))
    await harness.advance(25)
  }
  expect(harness.count('audienceInputs{forgotten,unchanged}')).toBe(20)
})

it('a deletion that waits for the suppressions is left to the next owner when the partition is revoked', async () => {
  const harness = await AudiencesHarness.started()
  harness.write(observed('ann', 0))
  await harness.advance(1_000)
  harness.marksAge = durationMs(10_000)
  harness.write({ kind: 'forgotten', userId: 'ann' })
  await harness.advance(500)
  harness.consumer.handlers?.onRevoked([{ topic: harness.topics.audienceInput, partition: 0 }])
  harness.marksAge = durationMs(0)
  await harness.advance(1_000)
  expect(harness.count('audienceInputs{forgotten,changed}')).toBe(0)
})
