import { describe, expect, it } from '@jest/globals'
import { durationMs } from '../../../../../src/core/time.ts'
import { settle, setUp } from './single-member-group.ts'

const needsRejoin = expect.objectContaining({ type: 'REBALANCE_IN_PROGRESS', retriable: true })

describe('a join', () => {
  it('commits for the old generation, then applies the assignment, then allows fetches', async () => {
    const { join, group, state, events } = setUp()
    await join()
    expect(events.splice(0)).toEqual(['assigned 0@10', 'seek 0 to 10', 'joined'])
    group.generationId = 2
    state.assigned = [1]
    await join(async () => {
      events.push('JoinGroup')
    })
    expect(events).toEqual(['flush', 'JoinGroup', 'revoked 0', 'assigned 1@10', 'seek 1 to 10', 'joined'])
  })

  it('allows commits until the response to JoinGroup, and again when the assignment is applied', async () => {
    const { member, join, group, it: own } = setUp()
    expect(member.committable).toBeUndefined()
    await join()
    const during: unknown[] = []
    await join(async () => {
      during.push(member.committable)
      await settle()
      during.push(member.committable)
      group.generationId = 2
      during.push(member.committable)
    })
    expect(during).toEqual([own, own, undefined])
    expect(member.committable).toBe(own)
  })

  it('allows no commits when SyncGroup failed, or the member id or the partitions are gone', async () => {
    const { member, join, group } = setUp()
    await join()
    const failed = join(async () => {
      group.generationId = 2
      throw new Error('SyncGroup failed')
    })
    await expect(failed).rejects.toThrow('SyncGroup failed')
    await join(async () => {
      expect(member.committable).toBeUndefined()
      group.generationId = 3
    })
    await join(async () => {
      group.memberId = 'another'
      expect(member.committable).toBeUndefined()
    })
    member.forget()
    expect(member.committable).toBeUndefined()
  })

  it('keeps positions and pauses', async () => {
    const { join, group, owned, events, knownInKafkajs } = setUp()
    await join()
    const partition = owned.get({ topic: 'topic', partition: 0 })
    Object.assign(partition as object, { next: 42, paused: true })
    group.generationId = 2
    events.length = 0
    await join()
    expect(events).toEqual(['flush', 'pause 0', 'seek 0 to 42', 'joined'])
    expect([...knownInKafkajs]).toEqual([[0, '42']])
  })

  it('fetches a partition that was resumed during the join', async () => {
    const { join, group, it, owned, pausedInKafkajs } = setUp()
    await join()
    const partition = owned.get({ topic: 'topic', partition: 0 }) as { paused: boolean }
    partition.paused = true
    it.pause([{ topic: 'topic', partitions: [0] }])
    group.generationId = 2
    await join(async () => {
      // During a join, a resume changes only this flag and does not call kafkajs.
      partition.paused = false
    })
    expect([...pausedInKafkajs]).toEqual([])
  })

  it('revokes everything under another member id, and commits nothing after an expulsion', async () => {
    const { join, group, events } = setUp()
    await join()
    group.memberId = null
    events.length = 0
    await join(async () => {
      group.memberId = 'another'
    })
    expect(events).toEqual(['revoked 0', 'assigned 0@10', 'seek 0 to 10', 'joined'])
  })

  it('is shared by concurrent callers', async () => {
    const { join, events } = setUp()
    let count = 0
    const during = async (): Promise<void> => {
      count++
      await settle()
    }
    await Promise.all([join(during), join(during)])
    expect(count).toBe(1)
    expect(events.filter(event => event === 'joined')).toHaveLength(1)
  })

  it('retries the offset fetch, and joins again when the coordinator never answers', async () => {
    const { member, join, state, clock, events } = setUp()
    state.canAsk = false
    const first = expect(join()).rejects.toEqual(needsRejoin)
    await clock.advance(5_000, settle)
    await first
    await expect(member.fetch(async () => [])).rejects.toEqual(needsRejoin)
    const second = join()
    await clock.advance(300, settle)
    state.canAsk = true
    await clock.advance(300, settle)
    await second
    expect(events).toEqual(['assigned 0@10', 'seek 0 to 10', 'joined'])
  })

  it('joins again when kafkajs finds no coordinator', async () => {
    const { join } = setUp()
    const notFound = Object.assign(new Error('none'), { name: 'KafkaJSGroupCoordinatorNotFound', retriable: false })
    await expect(join(() => Promise.reject(notFound))).rejects.toEqual(needsRejoin)
    const other = new Error('other')
    await expect(join(() => Promise.reject(other))).rejects.toBe(other)
  })

  it('fails after `end`, and leaves the group when `end` is called during it', async () => {
    const { member, join, events } = setUp()
    await expect(join(async () => member.end())).rejects.toMatchObject({ code: 'CLOSED', retriable: false })
    expect(events).toEqual(['leave'])
    await expect(join()).rejects.toMatchObject({ code: 'CLOSED' })
    expect(member.settled).toBeUndefined()
  })
})

describe('a fetch', () => {
  it('waits for a join in progress', async () => {
    const { member, join } = setUp()
    const gate = Promise.withResolvers<void>()
    const joining = join(() => gate.promise)
    let isFetched = false
    const fetching = member.fetch(async () => {
      isFetched = true
      return []
    })
    await settle()
    expect(isFetched).toBe(false)
    gate.resolve()
    await Promise.all([joining, fetching])
    expect(isFetched).toBe(true)
  })

  it('ignores its error after a join, and reports it otherwise', async () => {
    const { member, join } = setUp()
    await join()
    const stumbled = new TypeError('of a topic that is not ours any more')
    const overtaken = member.fetch(async () => {
      await join()
      throw stumbled
    })
    expect(await overtaken).toEqual([])
    await expect(member.fetch(() => Promise.reject(stumbled))).rejects.toBe(stumbled)
  })
})

describe('how long a broker may hold a fetch', () => {
  it('is short while a partition is paused or revoking, or the group joins', async () => {
    const { member, join, state, owned } = setUp()
    state.assigned = [0, 1]
    const waits: Record<string, number> = { 'before the first join': member.maxWait() }
    await join()
    waits['all are fetched'] = member.maxWait()
    const partition = owned.get({ topic: 'topic', partition: 1 })!
    partition.paused = true
    waits['one is paused'] = member.maxWait()
    partition.paused = false
    partition.isRevoking = true
    waits['one is being revoked'] = member.maxWait()
    await join(async () => {
      partition.isRevoking = false
      waits['a join is in progress'] = member.maxWait()
    })
    expect({ ...waits, 'joined again': member.maxWait() }).toEqual({
      ...{ 'before the first join': 100, 'all are fetched': 500, 'one is paused': 100 },
      ...{ 'one is being revoked': 100, 'a join is in progress': 100, 'joined again': 500 },
    })
  })
})

it('forget revokes all partitions once', async () => {
  const { member, join, events } = setUp()
  await join()
  events.length = 0
  member.forget()
  member.forget()
  expect(events.splice(0)).toEqual(['revoked 0'])
  await join()
  expect(events).toEqual(['assigned 0@10', 'seek 0 to 10', 'joined'])
})

it('revokes all partitions before it leaves the group, except after `end`', async () => {
  const { member, join, events } = setUp()
  await join()
  events.length = 0
  member.beforeLeave()
  expect(events.splice(0)).toEqual(['revoked 0'])
  await join()
  member.end()
  events.length = 0
  member.beforeLeave()
  expect(events).toEqual([])
})

it('untilSettled ends with the join or after the limit', async () => {
  const { member, join, it, clock } = setUp()
  const inTime = member.untilSettled(durationMs(1_000))
  await join()
  expect(await inTime).toBe(it)
  expect(await member.untilSettled(durationMs(1_000))).toBe(it)
  expect(clock.timers).toBe(0)
  member.forget()
  const tooLate = member.untilSettled(durationMs(1_000))
  await clock.advance(1_000, settle)
  expect(await tooLate).toBeUndefined()
})
