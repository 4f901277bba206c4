import { describe, expect, it } from '@jest/globals'
import type { Cluster as KafkajsCluster } from 'kafkajs'
import {
  cooperativeAssignor,
  excessPartitionsIn,
  type SubscriptionUserData,
} from '../../../../../src/adapters/kafka/group/assignor.ts'
import { loadKafkajs } from '../../../../../src/adapters/kafka/kafkajs/load-kafkajs.ts'

const { MemberAssignment, MemberMetadata } = loadKafkajs().AssignerProtocol

const sizes: Readonly<Record<string, number>> = { t: 4, u: 1 }
const cluster = {
  async addTargetTopic(topic: string) {
    if (sizes[topic] === undefined) throw new Error(`${topic} does not exist`)
  },
  findTopicPartitionMetadata: (topic: string) =>
    Array.from({ length: sizes[topic] ?? 0 }, (_, partitionId) => ({ partitionId, leader: 1 })),
} as unknown as KafkajsCluster

const generation = 5

function assignerOf(userData: SubscriptionUserData = { generation: -1, owned: [] }) {
  const memberState = { subscriptionUserData: () => userData, generation: () => generation }
  return cooperativeAssignor(memberState)({ cluster, groupId: 'g', logger: undefined as never })
}

const metadata = (userData: unknown, topics: readonly string[] = ['t']): Buffer =>
  MemberMetadata.encode({ version: 0, topics: [...topics], userData: userData as Buffer })
const text = (userData: string): Buffer => metadata(Buffer.from(userData))
const claimed = (owned: unknown, of: unknown = generation - 1): Buffer =>
  text(JSON.stringify({ generation: of, owned }))

const names = (topics: Readonly<Record<string, readonly number[]>>): string[] =>
  Object.entries(topics).flatMap(([topic, partitions]) => partitions.map(partition => `${topic}${partition}`))

/**
 * `members`: metadata by member id. Results: `member: partitions (excess ones)`. A member must
 * revoke its excess partitions.
 */
async function assignmentsOf(members: Readonly<Record<string, Buffer>>): Promise<string[]> {
  const assignments = await assignerOf().assign({
    topics: ['t'],
    members: Object.entries(members).map(([memberId, memberMetadata]) => ({ memberId, memberMetadata })),
  })
  return assignments.map(({ memberId, memberAssignment }) => {
    const partitions = names(MemberAssignment.decode(memberAssignment)?.assignment ?? {})
    const excess = excessPartitionsIn(memberAssignment).map(({ topic, partition }) => `${topic}${partition}`)
    return `${memberId}: ${partitions.join(' ')}${excess.length === 0 ? '' : ` (${excess.join(' ')})`}`
  })
}

const evenSplit = ['x: t0 t2', 'y: t1 t3']

describe('owned partitions in a subscription', () => {
  it('are kept when they are of the previous generation, and excess ones are listed', async () => {
    expect(await assignmentsOf({ x: claimed({ t: [0, 1, 2, 3] }), y: metadata(null) })).toEqual([
      'x: t0 t1 t2 t3 (t2 t3)',
      'y: ',
    ])
  })

  it('are encoded for each join and decoded unchanged', async () => {
    const owned = [
      { topic: 't', partition: 2 },
      { topic: 'u', partition: 0 },
      { topic: 't', partition: 3 },
    ]
    const claims: SubscriptionUserData[] = [
      { generation: 4, owned },
      { generation: 4, owned: [] },
    ]
    const memberState = {
      subscriptionUserData: () => claims.shift() as SubscriptionUserData,
      generation: () => generation,
    }
    const assigner = cooperativeAssignor(memberState)({ cluster, groupId: 'g', logger: undefined as never })
    const joins = [1, 2].map(() => assigner.protocol({ topics: ['t', 'u'] }))
    expect(joins.map(({ name }) => name)).toEqual(['hookline-cooperative', 'hookline-cooperative'])
    const [first, second] = joins.map(join => join.metadata) as [Buffer, Buffer]
    // `x` keeps the partitions in its metadata (`first` or `second`), and `y` has none.
    expect(await assignmentsOf({ x: first, y: metadata(null) })).toEqual(['x: u0 t2 t3', 'y: t0 t1'])
    expect(await assignmentsOf({ x: second, y: metadata(null) })).toEqual(['x: u0 t1 t3', 'y: t0 t2'])
  })

  describe('are ignored when they are', () => {
    const all = { t: [0, 1, 2, 3] }
    const whole = JSON.stringify({ generation: 4, owned: all })

    it.each<[string, Buffer]>([
      ['missing', metadata(null)],
      ['empty', text('')],
      ['in another client’s encoding', metadata(Buffer.from('0000000100017400000002000000000000000100000004', 'hex'))],
      ['not text', metadata(Buffer.from([0xff, 0xfe, 0x00, 0x80]))],
      ['truncated', text(whole.slice(0, -1))],
      ['followed by more bytes', text(`${whole}{}`)],
      ['not an object', text('4')],
      ['null', text('null')],
      ['a list', text(JSON.stringify([4, all]))],
      ['without a generation', text(JSON.stringify({ owned: all }))],
      ['of a generation that is a string', claimed(all, '4')],
      ['of the generation before the previous one', claimed(all, 3)],
      ['of the generation in progress', claimed(all, 5)],
      ['of a future generation', claimed(all, 6)],
      ['of generation -1', claimed(all, -1)],
      ['null instead of a map', claimed(null)],
      ['a list instead of a map', claimed([[0, 1, 2, 3]])],
      ['a string instead of a map', claimed('t')],
      ['partitions that are not a list', claimed({ t: 3 })],
      ['of a missing topic', claimed({ ghost: [0, 1] })],
      ['partitions that do not exist', claimed({ t: [4, -1, 2 ** 40] })],
      ['partitions that are not integers', claimed({ t: ['3', 2.5, null, [1], true] })],
    ])('%s', async (_name, x) => {
      expect(await assignmentsOf({ x, y: metadata(null) })).toEqual(evenSplit)
    })

    it('of a topic that the member does not subscribe to', async () => {
      const y = metadata(null, ['t', 'u'])
      expect(await assignmentsOf({ x: claimed({ u: [0] }), y })).toEqual(['x: t0 t2', 'y: u0 t1 t3'])
    })
  })

  it('are kept when some are valid, without the invalid ones', async () => {
    const x = claimed({ t: ['0', 3, 3, 9, -1], ghost: [0] })
    expect(await assignmentsOf({ x, y: metadata(null) })).toEqual(['x: t1 t3', 'y: t0 t2'])
  })

  it.each([
    { name: 'some', x: [0, 1], y: [1, 2, 3], expected: ['x: t0', 'y: t2 t3', 'z: t1'] },
    { name: 'only one', x: [3], y: [3], expected: ['x: t0 t3', 'y: t1', 'z: t2'] },
    { name: 'all', x: [0, 1, 2, 3], y: [0, 1, 2, 3], expected: ['x: t0 t3', 'y: t1', 'z: t2'] },
  ])('have no owner when two members claim them: $name', async ({ x, y, expected }) => {
    expect(await assignmentsOf({ x: claimed({ t: x }), y: claimed({ t: y }), z: metadata(null) })).toEqual(expected)
  })
})

describe('an unreadable subscription', () => {
  it.each<[string, Buffer]>([
    ['no metadata at all', Buffer.alloc(0)],
    ['metadata that ends within its version', Buffer.from([0])],
    ['metadata that ends within its topics', text('{}').subarray(0, 7)],
    ['a negative number of topics', Buffer.from('0000fffffff0', 'hex')],
    ['more topics than bytes', Buffer.from('00007fffffff', 'hex')],
    ['a topic without a name', Buffer.from('000000000001ffffffffffff', 'hex')],
  ])('%s: its member gets nothing, the others get all partitions', async (_name, x) => {
    expect(await assignmentsOf({ x, y: claimed({ t: [1, 2] }) })).toEqual(['x: ', 'y: t0 t1 t2 t3'])
  })

  it('keeps its topics when only its user data is truncated', async () => {
    expect(await assignmentsOf({ x: claimed({ t: [2, 3] }).subarray(0, -3), y: metadata(null) })).toEqual(evenSplit)
  })
})

it('assigns a deleted topic to no member, and all other topics', async () => {
  const topics = ['t', 'gone']
  expect(await assignmentsOf({ x: metadata(null, topics), y: metadata(null, topics) })).toEqual(evenSplit)
})

describe('the excess partitions in an assignment', () => {
  const assignment = (userData: unknown): Buffer =>
    MemberAssignment.encode({ version: 0, assignment: { t: [0, 1] }, userData: userData as Buffer })

  it.each<[string, Buffer | undefined, string[]]>([
    ['are read from the user data', assignment(Buffer.from('{"t":[1],"u":[0]}')), ['t1', 'u0']],
    ['are none without an assignment', undefined, []],
    ['are none when it is empty, as for a member that the leader does not know', Buffer.alloc(0), []],
    ['are none without user data', assignment(null), []],
    ['are none in the user data of another client', assignment(Buffer.from([0, 1, 0, 0])), []],
    ['are none in truncated user data', assignment(Buffer.from('{"t":[1]')), []],
    ['are none when the user data is not an object', assignment(Buffer.from('[1]')), []],
    ['are only integers', assignment(Buffer.from('{"t":[1,"0",null]}')), ['t1']],
  ])('%s', (_name, given, expected) => {
    expect(excessPartitionsIn(given).map(({ topic, partition }) => `${topic}${partition}`)).toEqual(expected)
  })
})
