import { describe, expect, it } from '@jest/globals'
import type { Delivery } from '../../../../src/services/dispatcher/delivery.ts'
import { DestinationQueues } from '../../../../src/services/dispatcher/destination-queues.ts'
import type { PartitionProcessor } from '../../../../src/services/partitions/partition-processor.ts'

function push(queues: DestinationQueues, id: string, orderKey?: string): void {
  const of = { processor: {} as PartitionProcessor, admittedAt: 0 }
  queues.push({ target: queues.of(id), of, orderKey } as Delivery)
}

it('a queue that was emptied by spillover is slow until one of its deliveries has ended', () => {
  const queues = new DestinationQueues({ hasFairShare: () => true, inFlight: 32 })
  const target = queues.of('crm')
  const processor = {} as PartitionProcessor
  const push = (): void => queues.push({ target, of: { processor, admittedAt: 0 }, orderKey: undefined } as Delivery)
  for (let count = 0; count < 3; count++) push()
  const inProgress = queues.take() as Delivery
  target.attempts.started(inProgress, 0)
  queues.findSlow(1_000, Number.NEGATIVE_INFINITY)
  expect(queues.drainMatching(target, processor, 100, () => true)).toHaveLength(2)
  // The destination is slow: a new delivery would wait as long as the oldest delivery, so the new
  // delivery must be deferred immediately.
  expect([...queues.slow]).toEqual([target])
  queues.ended(inProgress)
  expect([...queues.slow]).toEqual([])
})

describe('a queue whose oldest delivery has waited for five seconds', () => {
  function setUp() {
    const limiter = { hasFairShare: () => true, inFlight: 32 }
    const queues = new DestinationQueues(limiter)
    const target = queues.of('crm')
    for (let count = 0; count < 3; count++) push(queues, 'crm')
    const isSlow = (): boolean => {
      queues.findSlow(5_000, Number.NEGATIVE_INFINITY)
      return [...queues.slow].includes(target)
    }
    return { limiter, queues, target, isSlow }
  }

  it.each([
    ['quick', 4_990, 5_000, false],
    ['slow', 4_000, 4_900, true],
    ['in progress for a long time', 4_000, undefined, true],
  ])('and waits for other destinations, while its attempts are %s', (_, startedAt, endedAt, expected) => {
    const { limiter, queues, target, isSlow } = setUp()
    const delivery = queues.take() as Delivery
    target.attempts.started(delivery, startedAt)
    if (endedAt !== undefined) target.attempts.ended(delivery, endedAt)
    limiter.hasFairShare = () => false
    expect(queues.take()).toBeUndefined()
    expect(isSlow()).toBe(expected)
  })

  it('and waits, because it holds half of the permits in use itself, is slow', () => {
    const { limiter, queues, target, isSlow } = setUp()
    target.calls = 16
    limiter.hasFairShare = () => false
    expect(queues.take()).toBeUndefined()
    expect(isSlow()).toBe(true)
  })

  it('and keeps its turn, because the process has no free permit, is not slow', () => {
    expect(setUp().isSlow()).toBe(false)
  })

  it('and waits for a permit of its webhook is slow', () => {
    const { queues, isSlow } = setUp()
    queues.block(queues.take() as Delivery)
    queues.block(queues.take() as Delivery)
    expect(queues.take()).toBeUndefined()
    expect(isSlow()).toBe(true)
  })
})

it('a queue that waits for a host permit resumes when a rebalance drops the delivery that would start', () => {
  const queues = new DestinationQueues({ hasFairShare: () => true, inFlight: 32 })
  push(queues, 'crm')
  queues.block(queues.take() as Delivery)
  expect(queues.take()).toBeUndefined()
  push(queues, 'erp')
  queues.leftToNextOwner(queues.take() as Delivery)
  expect(queues.take()?.target).toBe(queues.of('crm'))
})

it.each<[string, (queues: DestinationQueues, blocked: Delivery) => void]>([
  [
    'were emptied by spillover',
    (queues, { target, of }) => queues.drainMatching(target, of.processor as PartitionProcessor, 1, () => true),
  ],
  [
    'have had their turn for another reason',
    (queues, { target }) => {
      queues.wake(target)
      queues.take()
    },
  ],
])('queues that %s leave the turn to a queue that still waits for a permit', (_, leave) => {
  const queues = new DestinationQueues({ hasFairShare: () => true, inFlight: 32 })
  const blocked = Array.from({ length: 100 }, (_, index) => {
    push(queues, `d${index}`)
    const delivery = queues.take() as Delivery
    queues.block(delivery)
    return delivery
  })
  for (const delivery of blocked.slice(0, -1)) leave(queues, delivery)
  queues.unblock([])
  expect(queues.take()).toBe(blocked.at(-1))
})

it('the next delivery of a key gets its turn after queues that wait for a permit', () => {
  const queues = new DestinationQueues({ hasFairShare: () => true, inFlight: 32 })
  for (const id of ['crm', 'crm', 'erp']) push(queues, id, 'user')
  const inProgress = queues.take() as Delivery
  queues.block(queues.take() as Delivery)
  queues.ended(inProgress)
  queues.unblock([queues.of('crm')])
  expect([queues.take()?.target.destination, queues.take()?.target.destination]).toEqual(['erp', 'crm'])
})

it('a queue that waits for a limit of its destination leaves the turns to others until it is woken', () => {
  const waits = new Map<string, number>()
  let isLimited = true
  const queues = new DestinationQueues(
    { hasFairShare: () => true, inFlight: 32 },
    {
      permission: ({ destination }) =>
        destination === 'crm' && isLimited ? { kind: 'wait', forMs: 20 } : { kind: 'start' },
      wakeAfter: ({ destination }, forMs) => void waits.set(destination, forMs),
    },
  )
  for (const id of ['crm', 'erp', 'crm']) push(queues, id)
  expect(queues.take()?.target.destination).toBe('erp')
  expect(queues.take()).toBeUndefined()
  expect([...waits]).toEqual([['crm', 20]])
  queues.wake(queues.of('crm'))
  expect(queues.take()).toBeUndefined()
  isLimited = false
  expect(queues.take()).toBeUndefined()
  queues.wakeAll()
  expect([queues.take()?.target.destination, queues.take()?.target.destination]).toEqual(['crm', 'crm'])
})
