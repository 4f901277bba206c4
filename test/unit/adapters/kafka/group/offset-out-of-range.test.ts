import { describe, expect, it } from '@jest/globals'
import { epochMs } from '../../../../../src/core/time.ts'
import { settle, setUp } from './single-member-group.ts'

describe('an offset out of range', () => {
  it.each([
    { name: 'deleted records', beginning: 30, end: 100, to: 30, events: ['seek 0 to 30'] },
    {
      name: 'a truncated log',
      beginning: 0,
      end: 7,
      to: 0,
      events: ['seek 0 to 0', 'revoked 0', 'assigned 0@0 truncated'],
    },
  ])('$name', async ({ beginning, end, to, events: expected }) => {
    const { member, join, it, state, events, losses, batches, owned } = setUp()
    await join()
    state.log = { beginning, end }
    events.length = 0
    await member.outOfRange(it, { topic: 'topic', partition: 0 })
    expect(events).toEqual(expected)
    expect(losses).toEqual([{ topic: 'topic', partition: 0, from: 10, to }])
    expect(owned.get({ topic: 'topic', partition: 0 })?.next).toBe(to)
    // After a deletion (`to`: 30), an empty batch moves the position. After a truncation (`to`: 0),
    // the partition is assigned again.
    expect(batches.map(({ records, nextOffset, isAfterLoss }) => [records.length, nextOffset, isAfterLoss])).toEqual(
      to > 10 ? [[0, to, true]] : [],
    )
  })

  it('is no loss when the beginning was unknown: the partition is assigned again at the beginning', async () => {
    const { member, join, it, state, events, losses, batches, owned } = setUp()
    await join()
    const at = { topic: 'topic', partition: 0 }
    Object.assign(owned.get(at)!, { next: 0, committed: undefined, isBeginningUnknown: true })
    state.log = { beginning: 30, end: 100 }
    events.length = 0
    await member.outOfRange(it, at)
    expect(events).toEqual(['seek 0 to 30', 'revoked 0', 'assigned 0@30 uncommitted'])
    expect([losses, batches]).toEqual([[], []])
    expect(owned.get(at)).toMatchObject({ next: 30, committed: undefined })
  })

  it.each([
    { name: 'deleted records', beginning: 30, end: 100, to: 30 },
    { name: 'a truncated log', beginning: 0, end: 7, to: 0 },
  ])('changes nothing during a revocation, and has its effect when the revocation is cancelled: $name', async given => {
    const { member, join, it, group, state, events, losses, owned, pausedInKafkajs } = setUp()
    await join()
    const at = { topic: 'topic', partition: 0 }
    state.log = given
    owned.get(at)!.isRevoking = true
    it.pause([{ topic: 'topic', partitions: [0] }])
    events.length = 0
    await member.outOfRange(it, at)
    expect([events, losses, owned.get(at)?.next, [...pausedInKafkajs]]).toEqual([[], [], 10, [0]])
    group.generationId = 2
    await join()
    await member.outOfRange(it, at)
    expect(losses).toEqual([{ ...at, from: 10, to: given.to }])
  })

  it.each([
    { name: 'has the position again', log: { beginning: 2, end: 25 } },
    { name: 'ends at the position', log: { beginning: 2, end: 20 } },
    { name: 'ends below the position', log: { beginning: 2, end: 9 } },
  ])('continues at the beginning of a truncated log that $name if no record was read', async ({ log }) => {
    const { member, join, it, state, events, losses, owned } = setUp()
    await join()
    const at = { topic: 'topic', partition: 0 }
    Object.assign(owned.get(at)!, { next: 20, committed: { offset: 20, metadata: '' } })
    state.log = log
    events.length = 0
    await member.outOfRange(it, at)
    expect(events).toEqual(['seek 0 to 2', 'revoked 0', 'assigned 0@2 truncated'])
    expect(losses).toEqual([{ ...at, from: 20, to: 2 }])
  })

  it.each([
    { name: 'the first new record', committed: 20, log: { beginning: 0, end: 9, since: 7 }, to: 7 },
    {
      name: 'the first new record below a committed offset',
      committed: 8,
      log: { beginning: 0, end: 9, since: 7 },
      to: 7,
    },
    {
      name: 'the committed offset, after which records are unfinished',
      committed: 5,
      log: { beginning: 0, end: 9, since: 7 },
      to: 5,
    },
    {
      name: 'the first new record, also if new records have reached the position',
      committed: 20,
      log: { beginning: 0, end: 25, since: 7 },
      to: 7,
    },
    {
      name: 'the first new record, also if its broker has a clock that is a minute behind',
      committed: 20,
      log: { beginning: 0, end: 9, since: 7, newAt: 1_000_000 - 60_000 },
      to: 7,
    },
    {
      name: 'the end, when all records are more than a minute older',
      committed: 20,
      log: { beginning: 0, end: 9, since: 7, newAt: 1_000_000 - 60_001 },
      to: 9,
    },
    { name: 'the end, when there is no new record', committed: 20, log: { beginning: 0, end: 9 }, to: 9 },
    {
      name: 'the beginning, when nothing was committed',
      committed: undefined,
      log: { beginning: 2, end: 9, since: 7 },
      to: 2,
    },
  ])('continues in a truncated log at $name', async ({ committed, log, to }) => {
    const { member, join, it, state, events, losses, owned } = setUp()
    await join()
    const at = { topic: 'topic', partition: 0 }
    const commit = committed === undefined ? undefined : { offset: committed, metadata: 'd1:AQ==' }
    Object.assign(owned.get(at)!, { next: 20, lastTimestamp: 1_000_000, committed: commit })
    state.log = log
    events.length = 0
    await member.outOfRange(it, at)
    expect(events).toEqual([`seek 0 to ${to}`, 'revoked 0', `assigned 0@${to} truncated`])
    expect(losses).toEqual([{ ...at, from: 20, to }])
    // The metadata of the last commit describes truncated records, so the member discards it.
    expect(owned.get(at)).toMatchObject({ next: to, committed: undefined })
  })

  it.each(['NOT_LEADER_FOR_PARTITION', 'LEADER_NOT_AVAILABLE', 'KAFKA_STORAGE_ERROR'])(
    'is tried again after the next fetch when the leader changes: %s',
    async type => {
      const { member, join, it: group, state, losses, clock } = setUp()
      await join()
      const at = { topic: 'topic', partition: 0 }
      const fetch = () => member.fetch(async () => member.outOfRange(group, at).then(() => []))
      state.log = { beginning: 30, end: 100 }
      state.offsetsFail = Object.assign(new Error(type), { name: 'KafkaJSProtocolError', type, retriable: true })
      const fetched = fetch()
      await settle()
      await clock.advance(200, settle)
      expect([await fetched, losses]).toEqual([[], []])
      state.offsetsFail = undefined
      await fetch()
      expect(losses).toEqual([{ ...at, from: 10, to: 30 }])
    },
  )

  it.each(['first', 'last', 'new'])(
    'is tried again after the next fetch when the leader is unknown for the %s offset',
    async which => {
      const { member, join, it: group, group: scripted, state, losses, clock, owned } = setUp()
      await join()
      const at = { topic: 'topic', partition: 0 }
      owned.get(at)!.lastTimestamp = epochMs(1_000_000)
      const fetch = () => member.fetch(async () => member.outOfRange(group, at).then(() => []))
      state.log = { beginning: 0, end: 9, since: 7 }
      const { fetchTopicsOffset } = scripted.cluster
      scripted.cluster.fetchTopicsOffset = async ([asked]) => {
        const asksFor = asked.fromBeginning ? 'first' : asked.fromTimestamp === undefined ? 'last' : 'new'
        return asksFor === which ? [] : fetchTopicsOffset([asked])
      }
      const fetched = fetch()
      await settle()
      await clock.advance(200, settle)
      expect([await fetched, losses]).toEqual([[], []])
      scripted.cluster.fetchTopicsOffset = fetchTopicsOffset
      await fetch()
      expect(losses).toEqual([{ ...at, from: 10, to: 7 }])
    },
  )

  it('does not read the whole partition again when the log is truncated a second time', async () => {
    const { member, join, it, state, losses, owned } = setUp()
    await join()
    const at = { topic: 'topic', partition: 0 }
    owned.get(at)!.lastTimestamp = epochMs(1_000_000)
    state.log = { beginning: 0, end: 9, since: 7 }
    await member.outOfRange(it, at)
    // The member has committed the new position, but has not read a record when the log is
    // truncated again.
    owned.get(at)!.committed = { offset: 7, metadata: '' }
    state.log = { beginning: 0, end: 6, since: 5 }
    await member.outOfRange(it, at)
    expect(losses.map(({ from, to }) => [from, to])).toEqual([
      [10, 7],
      [7, 5],
    ])
  })

  it('changes nothing when a second fetch of the same deleted records fails', async () => {
    const { member, join, it, state, losses } = setUp()
    await join()
    state.log = { beginning: 30, end: 100 }
    for (let fetch = 0; fetch < 2; fetch++) await member.outOfRange(it, { topic: 'topic', partition: 0 })
    expect(losses).toHaveLength(1)
  })

  it('changes nothing when the partition is not owned', async () => {
    const { member, join, it, events, losses } = setUp()
    await join()
    events.length = 0
    await member.outOfRange(it, { topic: 'topic', partition: 5 })
    expect([events, losses]).toEqual([[], []])
  })
})
