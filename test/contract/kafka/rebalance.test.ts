import { describe, expect, it } from '@jest/globals'
import { processClock } from '../../../src/adapters/clock/process-clock.ts'
import type { KafkaClient } from '../../../src/adapters/kafka/kafkajs/client.ts'
import type { LogConsumer } from '../../../src/core/ports.ts'
import {
  append,
  appendAll,
  committed,
  consumer,
  eventually,
  kafka,
  newTopic,
  numbered,
  plainAdmin,
  producer,
  Recorder,
  uniqueName,
} from './test-clients-and-topics.ts'

interface Joined {
  readonly one: LogConsumer
  readonly recorder: Recorder
}

async function join(topic: string, groupId: string, recorder = new Recorder()): Promise<Joined> {
  const one = consumer([topic], { groupId })
  await one.start(recorder)
  return { one, recorder }
}

const owned = ({ recorder }: Joined): number[] =>
  [...recorder.trackers.keys()].map(key => Number(key.split('/')[1])).sort()

/** Two members that share the four partitions of a topic, after the first one owned all of them. */
async function twoMembers() {
  const topic = await newTopic({ partitions: 4 })
  const groupId = uniqueName()
  await appendAll(
    producer(),
    topic,
    [0, 1, 2, 3].map(partition => ({ partition, value: Buffer.from(`${partition}`) })),
  )
  const first = await join(topic, groupId)
  await first.recorder.until(() => first.recorder.records.length === 4)
  const second = await join(topic, groupId)
  // The second member gets a partition only after the first one has revoked it.
  await first.recorder.until(() => owned(first).length === 2)
  await second.recorder.until(() => owned(second).length === 2)
  return { topic, groupId, first, second }
}

describe('a second member', () => {
  it('gets half of the partitions at their committed offsets; the first member keeps the others', async () => {
    const { topic, first, second } = await twoMembers()
    expect([...owned(first), ...owned(second)].sort()).toEqual([0, 1, 2, 3])
    expect(second.recorder.events).toEqual(owned(second).map(partition => `assigned ${partition}@1`))
    expect(first.recorder.events.slice(4)).toEqual([
      `revoking ${owned(second)}`,
      ...owned(second).map(partition => `revoked ${partition}`),
    ])

    await appendAll(
      producer(),
      topic,
      [0, 1, 2, 3].map(partition => ({ partition, value: Buffer.from('new') })),
    )
    await first.recorder.until(() => first.recorder.records.length === 6)
    await second.recorder.until(() => second.recorder.records.length === 2)
    expect(new Set(second.recorder.values)).toEqual(new Set(['new']))
    expect(
      first.recorder.records
        .slice(4)
        .map(({ partition }) => partition)
        .sort(),
    ).toEqual(owned(first))
  })

  it('gets the unfinished records of the first member, whose late results are ignored', async () => {
    const topic = await newTopic({ partitions: 2 })
    const groupId = uniqueName()
    await appendAll(
      producer(),
      topic,
      [0, 1].map(partition => ({ partition, value: Buffer.from(`${partition}`) })),
    )
    const slow = new Recorder()
    slow.isDone = () => false
    const first = await join(topic, groupId, slow)
    await slow.until(() => slow.records.length === 2)
    const trackers = new Map(slow.trackers)
    const second = await join(topic, groupId)
    await second.recorder.until(() => second.recorder.records.length === 1)
    await slow.until(() => owned(first).length === 1)
    const [moved] = owned(second) as [number]
    expect(second.recorder.values).toEqual([`${moved}`])
    await second.one.stop()
    trackers.get(`${topic}/${moved}`)?.done(0)
    const admin = await plainAdmin()
    expect((await committed(admin, groupId, topic))[moved]).toBe(1)
  })

  it('keeps its offsets although the first member still reports positions of lost partitions', async () => {
    const { topic, groupId, first, second } = await twoMembers()
    const [moved] = owned(second) as [number]
    await append(producer(), topic, { partition: moved, value: Buffer.from('new') })
    await second.recorder.until(() => second.recorder.values.includes('new'))
    const positions = first.recorder.positions()
    first.recorder.positions = () => [...positions, { topic, partition: moved, offset: 0, metadata: '' }]
    await second.one.stop()
    await first.recorder.until(() => owned(first).length === 4)
    expect(first.recorder.events).toContain(`assigned ${moved}@2`)
    await first.one.stop()
    expect((await committed(await plainAdmin(), groupId, topic))[moved]).toBe(2)
  })

  it('returns its partitions, with committed offsets, when it leaves', async () => {
    const { topic, first, second } = await twoMembers()
    const moved = owned(second)
    await appendAll(
      producer(),
      topic,
      moved.map(partition => ({ partition, value: Buffer.from('done') })),
    )
    await second.recorder.until(() => second.recorder.records.length === 2)
    await second.one.stop()
    await first.recorder.until(() => owned(first).length === 4)
    expect(first.recorder.events.slice(-2).sort()).toEqual(moved.map(partition => `assigned ${partition}@2`).sort())
    expect(first.recorder.values).not.toContain('done')
  })
})

it('a kept partition stays paused over a rebalance, a returned one does not', async () => {
  const topic = await newTopic({ partitions: 2 })
  const groupId = uniqueName()
  const first = await join(topic, groupId)
  for (const partition of [0, 1]) first.one.pause({ topic, partition })
  const second = await join(topic, groupId)
  await first.recorder.until(() => owned(first).length === 1)
  const [kept] = owned(first) as [number]
  await second.one.stop()
  await first.recorder.until(() => owned(first).length === 2)
  const to = producer()
  await append(to, topic, { partition: kept, value: Buffer.from('kept') })
  await append(to, topic, { partition: 1 - kept, value: Buffer.from('back') })
  await first.recorder.until(() => first.recorder.values.includes('back'))
  expect(first.recorder.values).toEqual(['back'])
  first.one.resume({ topic, partition: kept })
  await first.recorder.until(() => first.recorder.values.includes('kept'))
})

it('a group under load loses nothing and repeats no finished record while members join and leave', async () => {
  const topic = await newTopic({ partitions: 6 })
  const groupId = uniqueName()
  const to = producer()
  const total = 6_000
  const members = [await join(topic, groupId)]
  const sending = (async () => {
    for (let from = 0; from < total; from += 100)
      await appendAll(
        to,
        topic,
        numbered(100, from).map((record, index) => ({ ...record, partition: index % 6 })),
      )
  })()
  for (let round = 0; round < 3; round++) {
    members.push(await join(topic, groupId))
    if (round > 0) await members[round]?.one.stop()
  }
  await sending
  const seen = (): string[] => members.flatMap(({ recorder }) => recorder.values) as string[]
  await Promise.any(members.map(({ recorder }) => recorder.until(() => new Set(seen()).size === total)))
  for (const { one } of members) await one.stop()
  // Each member commits its finished records before it releases a partition.
  expect(seen().length).toBe(total)
  expect(await committed(await plainAdmin(), groupId, topic)).toEqual(
    Array.from({ length: 6 }, () => expect.any(Number)),
  )
  expect((await committed(await plainAdmin(), groupId, topic)).reduce((sum, offset) => sum + offset, 0)).toBe(total)
})

/**
 * A client whose members stay in the group for a minute without heartbeats, so that a rebalance
 * that waits for them ends only when the test ends it.
 */
function kafkaWithLongSession(): KafkaClient {
  const client = kafka()
  const long = { sessionTimeout: 60_000, rebalanceTimeout: 60_000 }
  return { ...client, consumer: (config, onDial) => client.consumer({ ...config, ...long }, onDial) }
}

/** Starts a rebalance in which the first member waits for a member that does not respond. */
async function waitingForDead() {
  const topic = await newTopic({ partitions: 4 })
  const groupId = uniqueName()
  const first = await join(topic, groupId)
  // Without an advancing clock, the member sends only one heartbeat and does not notice the
  // rebalance.
  const clock = { ...processClock, monotonic: () => 0, boottime: () => 0 }
  const dead = consumer([topic], { kafka: kafkaWithLongSession(), groupId, clock })
  await dead.start(new Recorder())
  await first.recorder.until(() => owned(first).length === 2)
  return { topic, groupId, first, dead, kept: owned(first) }
}

describe('a rebalance that waits for a dead member', () => {
  it('does not delay partitions that stay, and delays the others until it ends', async () => {
    const { topic, first, dead, kept } = await waitingForDead()
    await appendAll(
      producer(),
      topic,
      [0, 1, 2, 3].map(partition => ({ partition, value: Buffer.from(`${partition}`) })),
    )
    await first.recorder.until(() => first.recorder.records.length === 2)
    expect(owned(first)).toEqual(kept)
    expect(first.one.holdsLease()).toBe(true)
    await dead.stop()
    await first.recorder.until(() => first.recorder.records.length === 4)
    expect(owned(first)).toEqual([0, 1, 2, 3])
    expect(
      first.recorder.records
        .slice(0, 2)
        .map(({ partition }) => partition)
        .sort(),
    ).toEqual(kept)
  })

  it('does not delay commits of partitions that stay', async () => {
    const { topic, groupId, first, kept } = await waitingForDead()
    const [to, admin] = [producer(), await plainAdmin()]
    // The first commit may come before the rebalance, but the later ones are certainly during it.
    for (const offset of [0, 1, 2]) {
      await appendAll(
        to,
        topic,
        kept.map(partition => ({ partition, value: Buffer.from(`${offset}`) })),
      )
      await eventually(
        () => committed(admin, groupId, topic),
        offsets => kept.every(partition => offsets[partition] === offset + 1),
      )
      expect(owned(first)).toEqual(kept)
    }
  })
})
