import { beforeEach, describe, expect, it } from '@jest/globals'
import {
  fetchWithoutHooks,
  type GroupHooks,
  lastAssignmentFrom,
  patchConsumerGroup,
  setGroupHooks,
} from '../../../../../src/adapters/kafka/kafkajs/patch-consumer-group.ts'
import {
  type Broker,
  type Cluster,
  type ConsumerGroup,
  type FetchedBatch,
  internal,
} from '../../../../../src/adapters/kafka/kafkajs/private-api.ts'
import { type DurationMs, durationMs } from '../../../../../src/core/time.ts'

const steps = ['joinAndSync', 'heartbeat', 'leave', 'fetch', 'recoverFromOffsetOutOfRange'] as const
type Step = (typeof steps)[number]

const group = internal<{ prototype: ConsumerGroup }>('consumer/consumerGroup').prototype
const broker = internal<{ prototype: Broker }>('broker').prototype
const found = steps.map(step => typeof group[step])
const canSync = typeof broker.syncGroup

const events: string[] = []
/** Every fetch returns this batch of one transaction marker, without records for a consumer. */
const batch = { rawMessages: [{}], isEmpty: () => true } as unknown as FetchedBatch

const own = (step: Step) =>
  async function (this: ConsumerGroup, ...args: unknown[]) {
    events.push(`kafkajs: ${step} of ${this.groupId} ${JSON.stringify(args)}`)
    return step === 'fetch' ? [batch] : undefined
  }
// Replaces methods that send requests to brokers. Then the patch adds its hooks to the
// replacements.
Object.assign(group, Object.fromEntries(steps.map(step => [step, own(step)])))
broker.syncGroup = async request => {
  if ('error' in request) throw request.error
  return { memberAssignment: (request as { assignment: Buffer }).assignment }
}
patchConsumerGroup()

const hooks = (name: string): GroupHooks => ({
  async join({ groupId }, join) {
    events.push(`${name}: before the join of ${groupId}`)
    await join()
    events.push(`${name}: after it`)
  },
  heartbeat: async ({ groupId }) => void events.push(`${name}: heartbeat of ${groupId}`),
  beforeLeave: () => void events.push(`${name}: before a leave`),
  maxWait: () => durationMs(500),
  async fetch(fetch) {
    events.push(`${name}: before a fetch`)
    return fetch()
  },
  outOfRange: async ({ groupId }, { topic, partition }) =>
    void events.push(`${name}: ${topic}/${partition} of ${groupId} out of range`),
  unreadable: ({ groupId }, partitions) =>
    void events.push(`${name}: cannot read ${JSON.stringify(partitions)} of ${groupId}`),
})

function groupOf(groupId: string, hooked?: GroupHooks): ConsumerGroup {
  const cluster = {} as Cluster
  if (hooked !== undefined) setGroupHooks(cluster, hooked)
  return Object.assign(Object.create(group) as ConsumerGroup, { cluster, groupId })
}

const take: Record<Step, (of: ConsumerGroup) => Promise<unknown>> = {
  joinAndSync: of => of.joinAndSync(),
  heartbeat: of => of.heartbeat({ interval: 500 }),
  leave: of => of.leave(),
  fetch: of => of.fetch('1'),
  recoverFromOffsetOutOfRange: of => of.recoverFromOffsetOutOfRange({ topic: 't', partition: 3 }),
}

beforeEach(() => {
  events.length = 0
  batch.isEmpty = () => true
})

it('kafkajs has the hooked methods', () => {
  expect([found, canSync]).toEqual([steps.map(() => 'function'), 'function'])
})

describe('a step of a group', () => {
  it.each<{ step: Step; hooked: string[]; plain: string }>([
    {
      step: 'joinAndSync',
      hooked: ['h: before the join of g', 'kafkajs: joinAndSync of g []', 'h: after it'],
      plain: 'kafkajs: joinAndSync of g []',
    },
    { step: 'heartbeat', hooked: ['h: heartbeat of g'], plain: 'kafkajs: heartbeat of g [{"interval":500}]' },
    { step: 'leave', hooked: ['h: before a leave', 'kafkajs: leave of g []'], plain: 'kafkajs: leave of g []' },
    { step: 'fetch', hooked: ['h: before a fetch', 'kafkajs: fetch of g ["1"]'], plain: 'kafkajs: fetch of g ["1"]' },
    {
      step: 'recoverFromOffsetOutOfRange',
      hooked: ['h: t/3 of g out of range'],
      plain: 'kafkajs: recoverFromOffsetOutOfRange of g [{"topic":"t","partition":3}]',
    },
  ])('$step calls its consumer’s hooks, without hooks only kafkajs’s method', async ({ step, hooked, plain }) => {
    await take[step](groupOf('g', hooks('h')))
    expect(events.splice(0)).toEqual(hooked)
    await take[step](groupOf('g'))
    expect(events).toEqual([plain])
  })

  it('calls the hooks of its own cluster only', async () => {
    const [one, two] = [groupOf('one', hooks('first')), groupOf('two', hooks('second'))]
    await take.heartbeat(two)
    await take.heartbeat(one)
    expect(events).toEqual(['second: heartbeat of two', 'first: heartbeat of one'])
  })

  it('fails with the error of the hook, which makes kafkajs join again', async () => {
    const rejoin = Object.assign(new Error('join again'), { type: 'REBALANCE_IN_PROGRESS' })
    const fail = (): Promise<never> => Promise.reject(rejoin)
    const failing = groupOf('g', {
      join: fail,
      heartbeat: fail,
      beforeLeave() {
        throw rejoin
      },
      maxWait: () => durationMs(1),
      fetch: fail,
      outOfRange: fail,
      unreadable: () => undefined,
    })
    for (const step of steps) await expect(take[step](failing)).rejects.toBe(rejoin)
    expect(events).toEqual([])
  })
})

describe('maxWait', () => {
  it.each([
    { name: 'each fetch', fetch: (of: ConsumerGroup) => of.fetch('1') },
    { name: 'each fetch during a rebalance', fetch: (of: ConsumerGroup) => fetchWithoutHooks(of, '1') },
  ])('is called before $name', async ({ fetch }) => {
    const waits: DurationMs[] = [durationMs(500), durationMs(100)]
    const of = groupOf('g', { ...hooks('h'), maxWait: () => waits.shift() ?? durationMs(0) })
    const waited: number[] = []
    for (const _ of [1, 2]) {
      await fetch(of)
      waited.push(of.maxWaitTime)
    }
    expect(waited).toEqual([500, 100])
  })
})

describe('a batch that has only markers', () => {
  it.each([
    { name: 'is passed to a consumer with hooks', hooked: hooks('h'), raw: [{}], isEmpty: false },
    { name: 'is not passed to other consumers', hooked: undefined, raw: [{}], isEmpty: true },
  ])('$name', async ({ hooked, raw, isEmpty }) => {
    Object.assign(batch, { rawMessages: raw })
    const batches = await groupOf('g', hooked).fetch('1')
    expect(batches.map(each => each.isEmpty())).toEqual([isEmpty])
  })
})

describe('an empty batch', () => {
  it.each([
    { name: 'is not passed to a consumer with hooks', hooked: hooks('h'), batches: 0 },
    { name: 'is passed to other consumers', hooked: undefined, batches: 1 },
  ])('$name', async ({ hooked, batches }) => {
    Object.assign(batch, { rawMessages: [] })
    expect(await groupOf('g', hooked).fetch('1')).toHaveLength(batches)
  })
})

describe('the assignment with its user data', () => {
  const coordinator = (): Broker => Object.create(broker) as Broker

  it('is kept for each coordinator', async () => {
    const [one, two] = [coordinator(), coordinator()]
    expect(lastAssignmentFrom(one)).toBeUndefined()
    expect(await one.syncGroup({ assignment: Buffer.from('a') })).toEqual({ memberAssignment: Buffer.from('a') })
    await two.syncGroup({ assignment: Buffer.from('b') })
    await one.syncGroup({ assignment: Buffer.from('c') })
    expect([lastAssignmentFrom(one), lastAssignmentFrom(two)]).toEqual([Buffer.from('c'), Buffer.from('b')])
  })

  it('is that of the last successful join', async () => {
    const one = coordinator()
    await one.syncGroup({ assignment: Buffer.from('a') })
    const error = new Error('rebalance in progress')
    await expect(one.syncGroup({ error })).rejects.toBe(error)
    expect(lastAssignmentFrom(one)).toEqual(Buffer.from('a'))
  })
})
