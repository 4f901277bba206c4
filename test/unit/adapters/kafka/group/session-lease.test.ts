import { expect, it } from '@jest/globals'
import { SessionLease } from '../../../../../src/adapters/kafka/group/session-lease.ts'
import type { ConsumerGroup } from '../../../../../src/adapters/kafka/kafkajs/private-api.ts'
import { ManualClock } from '../../../../support/manual-clock.ts'

/** A coordinator that responds to heartbeats only when the test resolves a promise. */
function setUp() {
  const clock = new ManualClock()
  const answers: PromiseWithResolvers<void>[] = []
  let confirmed = 0
  const lease = new SessionLease(clock, () => confirmed++)
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
  const beat = () => lease.heartbeat(group as unknown as ConsumerGroup)
  return { clock, answers, lease, group, beat, confirmed: () => confirmed }
}

it('is held for 5 s from the sending of the heartbeat, not from the response', async () => {
  const { clock, answers, lease, beat, confirmed } = setUp()
  expect(lease.isHeld).toBe(false)
  const beating = beat()
  await clock.advance(4_000)
  answers[0]?.resolve()
  await beating
  expect([lease.isHeld, confirmed()]).toEqual([true, 1])
  await clock.advance(999)
  expect(lease.isHeld).toBe(true)
  await clock.advance(1)
  expect(lease.isHeld).toBe(false)
})

it('is not renewed by a response that waited in a frozen process', async () => {
  const { clock, answers, lease, beat, confirmed } = setUp()
  const beating = beat()
  await clock.advance(10_000)
  answers[0]?.resolve()
  await beating
  expect([lease.isHeld, confirmed()]).toEqual([false, 0])
})

it('reports once that it is held again', async () => {
  const { clock, answers, beat, confirmed } = setUp()
  for (const [index, waitMs] of [0, 500, 500, 6_000].entries()) {
    await clock.advance(waitMs)
    const beating = beat()
    answers[index]?.resolve()
    await beating
  }
  expect(confirmed()).toBe(2)
})

it('sends one heartbeat at a time, every 500 ms, and immediately after a failure', async () => {
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

it('sends no heartbeat without a member id', async () => {
  const { answers, group, beat, lease } = setUp()
  group.memberId = null
  await beat()
  expect([answers.length, lease.isHeld]).toEqual([0, false])
})

it('is renewed by REBALANCE_IN_PROGRESS, which proves the membership', async () => {
  const { answers, lease, beat } = setUp()
  const beating = beat()
  answers[0]?.reject(Object.assign(new Error('rebalance'), { type: 'REBALANCE_IN_PROGRESS' }))
  await expect(beating).rejects.toThrow('rebalance')
  expect(lease.isHeld).toBe(true)
})

it.each(['UNKNOWN_MEMBER_ID', 'ILLEGAL_GENERATION', 'NOT_COORDINATOR_FOR_GROUP'])(
  'is not renewed by %s',
  async type => {
    const { answers, lease, beat } = setUp()
    const beating = beat()
    answers[0]?.reject(Object.assign(new Error('no'), { type }))
    await expect(beating).rejects.toThrow('no')
    expect(lease.isHeld).toBe(false)
  },
)

it.each([
  { type: 'UNKNOWN_MEMBER_ID', isHeld: false },
  { type: 'ILLEGAL_GENERATION', isHeld: true },
  { type: 'NOT_COORDINATOR_FOR_GROUP', isHeld: true },
])('after $type, is held until its end: $isHeld', async ({ type, isHeld }) => {
  const { clock, answers, lease, beat, confirmed } = setUp()
  const first = beat()
  answers[0]?.resolve()
  await first
  await clock.advance(500)
  const second = beat()
  answers[1]?.reject(Object.assign(new Error('no'), { type }))
  await expect(second).rejects.toThrow('no')
  expect([lease.isHeld, lease.ageMs]).toEqual(isHeld ? [true, 500] : [false, Number.POSITIVE_INFINITY])
  const third = beat()
  answers[2]?.resolve()
  await third
  expect([lease.isHeld, confirmed()]).toEqual([true, isHeld ? 1 : 2])
})

it('is not held when the machine wakes up', async () => {
  const { clock, answers, lease, beat, confirmed } = setUp()
  const beating = beat()
  answers[0]?.resolve()
  await beating
  expect(lease.isHeld).toBe(true)
  clock.suspend(60_000)
  expect(lease.isHeld).toBe(false)
  // The next heartbeat is due now.
  const again = beat()
  answers[1]?.resolve()
  await again
  expect([lease.isHeld, confirmed()]).toEqual([true, 2])
})
