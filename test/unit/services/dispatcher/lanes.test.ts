import { expect, it } from '@jest/globals'
import type { Delivery } from '../../../../src/services/dispatcher/delivery.ts'
import { Lanes } from '../../../../src/services/dispatcher/lanes.ts'
import type { Shard } from '../../../../src/services/partitions/shard.ts'

it('a destination queue that was emptied into a retry topic is slow until one of its deliveries has ended', () => {
  const lanes = new Lanes({ leavesOthersTheirs: () => true })
  const lane = lanes.of('crm')
  const shard = {} as Shard
  const push = (): void => lanes.push({ lane, of: { shard, takenUpAt: 0 }, orderKey: undefined } as Delivery)
  for (let count = 0; count < 3; count++) push()
  const inProgress = lanes.take() as Delivery
  lanes.findSlow(1_000)
  expect(lanes.takeOut(lane, shard, 100, () => true)).toHaveLength(2)
  // What comes now would wait as long: it is moved without a wait of its own.
  expect([...lanes.slow]).toEqual([lane])
  lanes.ended(inProgress)
  expect([...lanes.slow]).toEqual([])
})

it('a destination queue that was blocked on a host resumes when a rebalance takes away the delivery that was to be started', () => {
  const lanes = new Lanes({ leavesOthersTheirs: () => true })
  const push = (id: string): void => {
    const of = { shard: {} as Shard, takenUpAt: 0 }
    lanes.push({ lane: lanes.of(id), of, orderKey: undefined } as Delivery)
  }
  push('crm')
  lanes.putBack(lanes.take() as Delivery)
  expect(lanes.take()).toBeUndefined()
  push('erp')
  lanes.dropped(lanes.take() as Delivery)
  expect(lanes.take()?.lane).toBe(lanes.of('crm'))
})

it('the next delivery of a key goes behind destination queues that wait for a permit', () => {
  const lanes = new Lanes({ leavesOthersTheirs: () => true })
  const push = (id: string): void => {
    const of = { shard: {} as Shard, takenUpAt: 0 }
    lanes.push({ lane: lanes.of(id), of, orderKey: 'user' } as Delivery)
  }
  for (const id of ['crm', 'crm', 'erp']) push(id)
  const inProgress = lanes.take() as Delivery
  lanes.putBack(lanes.take() as Delivery)
  lanes.ended(inProgress)
  lanes.unblock([lanes.of('crm')])
  expect([lanes.take()?.lane.destination, lanes.take()?.lane.destination]).toEqual(['erp', 'crm'])
})
