import { describe, expect, it } from '@jest/globals'
import type { Cluster as KafkajsCluster } from 'kafkajs'
import {
  cooperativeAssignor,
  excessPartitionsIn,
  type SubscriptionUserData,
} from '../../../../../src/adapters/kafka/group/assignor.ts'
import { loadKafkajs } from '../../../../../src/adapters/kafka/kafkajs/kafkajs.ts'

const { MemberAssignment, MemberMetadata } = loadKafkajs().AssignerProtocol

/** The topics of the cluster and their partitions. */
const sizes: Readonly<Record<string, number>> = { t: 4, u: 1 }
const cluster = {
  async addTargetTopic(topic: string) {
    if (sizes[topic] === undefined) throw new Error(`${topic} does not exist`)
  },
  findTopicPartitionMetadata: (topic: string) =>
    Array.from({ length: sizes[topic] ?? 0 }, (_, partitionId) => ({ partitionId, leader: 1 })),
} as unknown as KafkajsCluster

/** Of the join that is under way. */
const generation = 5

function assignerOf(claim: SubscriptionUserData = { generation: -1, owned: [] }) {
  const memberState = { subscriptionUserData: () => claim, generation: () => generation }
  return cooperativeAssignor(memberState)({ cluster, groupId: 'g', logger: undefined as never })
}

const metadata = (userData: unknown, topics: readonly string[] = ['t']): Buffer =>
  MemberMetadata.encode({ version: 0, topics: [...topics], userData: userData as Buffer })
const text = (userData: string): Buffer => metadata(Buffer.from(userData))
const claimed = (owned: unknown, of: unknown = generation - 1): Buffer =>
  text(JSON.stringify({ generation: of, owned }))

const names = (topics: Readonly<Record<string, readonly number[]>>): string[] =>
  Object.entries(topics).flatMap(([topic, partitions]) => partitions.map(partition => `${topic}${partition}`))

/** GroupMembership → its metadata; what each is told: `member: what it has (what of it it gives up)`. */
async function shares(members: Readonly<Record<string, Buffer>>): Promise<string[]> {
  const told = await assignerOf().assign({
    topics: ['t'],
    members: Object.entries(members).map(([memberId, memberMetadata]) => ({ memberId, memberMetadata })),
  })
  return told.map(({ memberId, memberAssignment }) => {
    const has = names(MemberAssignment.decode(memberAssignment)?.assignment ?? {})
    const gives = excessPartitionsIn(memberAssignment).map(({ topic, partition }) => `${topic}${partition}`)
    return `${memberId}: ${has.join(' ')}${gives.length === 0 ? '' : ` (${gives.join(' ')})`}`
  })
}

const nobodyHadAny = ['x: t0 t2', 'y: t1 t3']

describe('owned partitions in a subscription', () => {
  it('of the previous generation count: their owner keeps them and learns its excess', async () => {
    expect(await shares({ x: claimed({ t: [0, 1, 2, 3] }), y: metadata(null) })).toEqual([
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
    // Beside `y`, which has nothing, its claim shows.
    expect(await shares({ x: first, y: metadata(null) })).toEqual(['x: u0 t2 t3', 'y: t0 t1'])
    expect(await shares({ x: second, y: metadata(null) })).toEqual(['x: u0 t1 t3', 'y: t0 t2'])
  })

  describe('counts for nothing', () => {
    const all = { t: [0, 1, 2, 3] }
    const whole = JSON.stringify({ generation: 4, owned: all })

    it.each<[string, Buffer]>([
      ['that is not there', metadata(null)],
      ['that is empty', text('')],
      ['in another client’s encoding', metadata(Buffer.from('0000000100017400000002000000000000000100000004', 'hex'))],
      ['in bytes that are no text', metadata(Buffer.from([0xff, 0xfe, 0x00, 0x80]))],
      ['that is cut off', text(whole.slice(0, -1))],
      ['with something behind it', text(`${whole}{}`)],
      ['that is no object', text('4')],
      ['that is null', text('null')],
      ['that is a list', text(JSON.stringify([4, all]))],
      ['without a generation', text(JSON.stringify({ owned: all }))],
      ['of a generation in words', claimed(all, '4')],
      ['of the join before the last', claimed(all, 3)],
      ['of the join that is under way', claimed(all, 5)],
      ['of a join to come', claimed(all, 6)],
      ['of nobody', claimed(all, -1)],
      ['to null', claimed(null)],
      ['to a list', claimed([[0, 1, 2, 3]])],
      ['to a word', claimed('t')],
      ['to partitions that are no list', claimed({ t: 3 })],
      ['to a topic that does not exist', claimed({ ghost: [0, 1] })],
      ['to partitions that do not exist', claimed({ t: [4, -1, 2 ** 40] })],
      ['to partitions that are no numbers', claimed({ t: ['3', 2.5, null, [1], true] })],
    ])('%s', async (_name, x) => {
      expect(await shares({ x, y: metadata(null) })).toEqual(nobodyHadAny)
    })

    it('to a topic that the member does not subscribe to', async () => {
      const y = metadata(null, ['t', 'u'])
      expect(await shares({ x: claimed({ u: [0] }), y })).toEqual(['x: t0 t2', 'y: u0 t1 t3'])
    })
  })

  it('count where they are valid; the rest is ignored', async () => {
    const x = claimed({ t: ['0', 3, 3, 9, -1], ghost: [0] })
    expect(await shares({ x, y: metadata(null) })).toEqual(['x: t1 t3', 'y: t0 t2'])
  })

  it.each([
    { name: 'two', x: [0, 1], y: [1, 2, 3], expected: ['x: t0', 'y: t2 t3', 'z: t1'] },
    { name: 'two, of nothing else,', x: [3], y: [3], expected: ['x: t0 t3', 'y: t1', 'z: t2'] },
    { name: 'two, of everything,', x: [0, 1, 2, 3], y: [0, 1, 2, 3], expected: ['x: t0 t3', 'y: t1', 'z: t2'] },
  ])('of $name members to the same partitions in the same generation is nobody’s', async ({ x, y, expected }) => {
    expect(await shares({ x: claimed({ t: x }), y: claimed({ t: y }), z: metadata(null) })).toEqual(expected)
  })
})

describe('an unreadable subscription', () => {
  it.each<[string, Buffer]>([
    ['no metadata at all', Buffer.alloc(0)],
    ['metadata that ends in its version', Buffer.from([0])],
    ['metadata that ends among its topics', text('{}').subarray(0, 7)],
    ['a count of topics below none', Buffer.from('0000fffffff0', 'hex')],
    ['a count of topics beyond its bytes', Buffer.from('00007fffffff', 'hex')],
    ['a topic without a name', Buffer.from('000000000001ffffffffffff', 'hex')],
  ])('%s: it gets nothing, and the others all', async (_name, x) => {
    expect(await shares({ x, y: claimed({ t: [1, 2] }) })).toEqual(['x: ', 'y: t0 t1 t2 t3'])
  })

  it('keeps its topics when only its user data is cut off', async () => {
    expect(await shares({ x: claimed({ t: [2, 3] }).subarray(0, -3), y: metadata(null) })).toEqual(nobodyHadAny)
  })
})

it('assigns a deleted topic to no member, and all other topics', async () => {
  const topics = ['t', 'gone']
  expect(await shares({ x: metadata(null, topics), y: metadata(null, topics) })).toEqual(nobodyHadAny)
})

describe('the excess partitions in an assignment', () => {
  const assignment = (userData: unknown): Buffer =>
    MemberAssignment.encode({ version: 0, assignment: { t: [0, 1] }, userData: userData as Buffer })

  it.each<[string, Buffer | undefined, string[]]>([
    ['what is named', assignment(Buffer.from('{"t":[1],"u":[0]}')), ['t1', 'u0']],
    ['nothing without an assignment', undefined, []],
    ['nothing when it is empty, as for a member that the leader does not know', Buffer.alloc(0), []],
    ['nothing without user data', assignment(null), []],
    ['nothing with user data of another client', assignment(Buffer.from([0, 1, 0, 0])), []],
    ['nothing when it is cut off', assignment(Buffer.from('{"t":[1]')), []],
    ['nothing when it is no object', assignment(Buffer.from('[1]')), []],
    ['only what are numbers', assignment(Buffer.from('{"t":[1,"0",null]}')), ['t1']],
  ])('%s', (_name, given, expected) => {
    expect(excessPartitionsIn(given).map(({ topic, partition }) => `${topic}${partition}`)).toEqual(expected)
  })
})
