import { expect, it } from '@jest/globals'
import type { ConsumerGroup } from '../../../../src/adapters/kafka/internals.ts'
import { Lease } from '../../../../src/adapters/kafka/lease.ts'
import { ManualClock } from '../../../support/manual-clock.ts'

/** A coordinator that answers heartbeats when it is told to. */
function setUp() {
  const clock = new ManualClock()
  const answers: PromiseWithResolvers<void>[] = []
  let confirmed = 0
  const lease = new Lease(clock, () => confirmed++)
  const group = {
    groupId: 'group',
    memberId: 'me' as string | null,
    generationId: 3,
    coordinator: {
      heartbeat: () => {
        const answer = Promise.withResolvers<void>()
        answers.push(answer)
        return answer.promise
      },
    },
  }
  const beat = () => lease.beat(group as unknown as ConsumerGroup)
  return { clock, answers, lease, group, beat, confirmed: () => confirmed }
}

it('holds for 5 s from the moment at which the heartbeat was sent, not from its answer', async () => {
  const { clock, answers, lease, beat, confirmed } = setUp()
  expect(lease.holds).toBe(false)
  const beating = beat()
  await clock.advance(4_000)
  answers[0]?.resolve()
  await beating
  expect([lease.holds, confirmed()]).toEqual([true, 1])
  await clock.advance(999)
  expect(lease.holds).toBe(true)
  await clock.advance(1)
  expect(lease.holds).toBe(false)
})

it('an answer that waited while the process was frozen renews nothing', async () => {
  const { clock, answers, lease, beat, confirmed } = setUp()
  const beating = beat()
  await clock.advance(10_000)
  answers[0]?.resolve()
  await beating
  expect([lease.holds, confirmed()]).toEqual([false, 0])
})

it('says when it holds again, not each time', async () => {
  const { clock, answers, beat, confirmed } = setUp()
  for (const [index, waitMs] of [0, 500, 500, 6_000].entries()) {
    await clock.advance(waitMs)
    const beating = beat()
    answers[index]?.resolve()
    await beating
  }
  expect(confirmed()).toBe(2)
})

it('sends one heartbeat at a time, every 500 ms, and the next one at once when one failed', async () => {
  const { clock, answers, beat } = setUp()
  const both = Promise.all([beat(), beat()])
  answers[0]?.resolve()
  await both
  await beat()
  await clock.advance(499)
  await beat()
  expect(answers).toHaveLength(1)
  await clock.advance(1)
  const failing = beat()
  answers[1]?.reject(new Error('rebalance'))
  await expect(failing).rejects.toThrow('rebalance')
  void beat()
  expect(answers).toHaveLength(3)
})

it('who is no member sends none', async () => {
  const { answers, group, beat, lease } = setUp()
  group.memberId = null
  await beat()
  expect([answers.length, lease.holds]).toEqual([0, false])
})

it('is renewed by a coordinator that asks for a join: it has looked whether it knows us', async () => {
  const { answers, lease, beat } = setUp()
  const beating = beat()
  answers[0]?.reject(Object.assign(new Error('rebalance'), { type: 'REBALANCE_IN_PROGRESS' }))
  await expect(beating).rejects.toThrow('rebalance')
  expect(lease.holds).toBe(true)
})

it.each(['UNKNOWN_MEMBER_ID', 'ILLEGAL_GENERATION', 'NOT_COORDINATOR_FOR_GROUP'])('is not by %s', async type => {
  const { answers, lease, beat } = setUp()
  const beating = beat()
  answers[0]?.reject(Object.assign(new Error('no'), { type }))
  await expect(beating).rejects.toThrow('no')
  expect(lease.holds).toBe(false)
})

it('does not hold when the machine wakes up: others may have had our partitions for long', async () => {
  const { clock, answers, lease, beat, confirmed } = setUp()
  const beating = beat()
  answers[0]?.resolve()
  await beating
  expect(lease.holds).toBe(true)
  clock.suspend(60_000)
  expect(lease.holds).toBe(false)
  // The next heartbeat is due immediately.
  const again = beat()
  answers[1]?.resolve()
  await again
  expect([lease.holds, confirmed()]).toEqual([true, 2])
})
