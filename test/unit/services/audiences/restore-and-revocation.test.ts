import { describe, expect, it } from '@jest/globals'
import { AudiencesHarness } from '../../../support/audience/harness.ts'
import { ended, observed } from '../../../support/audience/partition-harness.ts'

const readyChecks = (harness: AudiencesHarness): Record<string, boolean> =>
  Object.fromEntries(harness.service.health().ready.map(({ name, ok }) => [name, ok]))
const own = { topic: 'hookline.audience-input', partition: 0 }

describe('restoring', () => {
  it.each([
    ['from all records', false],
    ['from a compacted topic', true],
  ])('another process restores the same memberships %s', async (_name, isCompacted) => {
    const harness = await AudiencesHarness.started({ partitions: 3 })
    const users = Array.from({ length: 30 }, (_, index) => `user-${index}`)
    harness.write(...users.map(user => observed(user, 1)), ended(1))
    await harness.advance(1)
    harness.write(...users.slice(1).map(user => observed(user, 2)), ended(2))
    await harness.advance(1)
    const before = harness.sent().length
    expect(before).toBe(31)
    harness.reader = harness.log.reader({ isCompacted })
    await harness.restart()
    harness.write(...users.map(user => observed(user, 3)), ended(3))
    await harness.advance(1)
    expect(harness.sent().slice(before)).toEqual([expect.objectContaining({ userId: 'user-0', value: 'true' })])
    harness.service.refreshGauges()
    expect(harness.count('audienceMembers{}')).toBe(30)
    expect(harness.count('audienceMemberBytes{}')).toBeGreaterThan(1_000)
    expect(harness.count('audiencePartitions{restored}')).toBe(3)
    expect(harness.count('audienceRestoreSeconds{}')).toBe(6)
  })

  it('the service is not ready and handles no input until all partitions are restored; it retries', async () => {
    const harness = new AudiencesHarness({ partitions: 2 })
    const { reader } = harness
    harness.reader = {
      ...reader,
      readPartition: (asked, onRecord) =>
        asked.partition === 0 ? reader.readPartition(asked, onRecord) : Promise.reject(new Error('no broker')),
    }
    expect(readyChecks(harness)['audience group']).toBe(false)
    await harness.service.start()
    harness.write(...['ann', 'bob', 'cem', 'dee'].map(user => observed(user, 1)))
    await harness.advance(5_000)
    expect(readyChecks(harness)).toEqual({ 'audience group': true, memberships: false, 'audience topics': true })
    expect(harness.committed(0)).toBeGreaterThan(0)
    expect(harness.committed(1)).toBe(0)
    expect(
      harness.lines.filter(({ line }) => line.startsWith('hookline cannot read the audience members')),
    ).toHaveLength(6)

    harness.reader = reader
    await harness.advance(1_000)
    expect(readyChecks(harness)['memberships']).toBe(true)
    expect(harness.sent()).toHaveLength(4)
  })

  it('waits for an unknown schema; ignores and logs a record that is not a membership', async () => {
    const harness = await AudiencesHarness.started()
    harness.write(observed('ann', 1), ended(1))
    await harness.advance(1)
    const { memberships } = harness.topics
    const { key, value } = harness.log.records(memberships).findLast(record => String(record.key).includes('ann'))!
    harness.log.write(memberships, Buffer.from(`schema:7:${value}`), String(key))
    harness.log.write(memberships, Buffer.from('schema:404:{}'), '["First time shopper","bob","crm"]')
    harness.log.write(memberships, Buffer.from('{}'), 'foreign key')
    harness.memberships.registryIsDown = true
    await harness.restart()
    await harness.advance(3_000)
    expect(readyChecks(harness)['memberships']).toBe(false)
    harness.memberships.registryIsDown = false
    await harness.advance(1_000)
    expect(readyChecks(harness)['memberships']).toBe(true)
    expect(harness.lines.filter(({ level }) => level === 'error').map(({ line }) => line)).toEqual([
      expect.stringMatching(/^record of an audience membership cannot be decoded, so /),
      'another program wrote a record to the audience memberships topic, and hookline ignores this record: find and stop the program, because only hookline may write to this topic',
    ])
    harness.write(observed('ann', 2), ended(2))
    await harness.advance(1)
    expect(harness.sent()).toHaveLength(1)
  })
})

describe('a revoked partition', () => {
  it('gets no further write, also while Kafka does not answer', async () => {
    const harness = await AudiencesHarness.started()
    harness.log.unwritable.add(harness.topics.memberships)
    harness.write(observed('ann', 1), observed('bob', 1))
    await harness.advance(1)
    harness.consumer.handlers?.onRevoked([own])
    harness.log.unwritable.clear()
    await harness.advance(60_000)
    expect(harness.log.records(harness.topics.memberships)).toEqual([])
    expect(harness.committed()).toBe(0)
  })

  it('visits no further members at the end of a sync', async () => {
    const harness = await AudiencesHarness.started()
    harness.write(...Array.from({ length: 2_500 }, (_, index) => observed(`user-${index}`, 1)))
    await harness.advance(1)
    let turns = 0
    const { clock } = harness
    const soon = clock.soon.bind(clock)
    clock.soon = run => {
      turns++
      harness.consumer.handlers?.onRevoked([own])
      return soon(run)
    }
    harness.write(ended(1))
    await harness.advance(1)
    expect(turns).toBe(1)
  })

  it('is restored again when it returns, and handles what was not done', async () => {
    const harness = await AudiencesHarness.started({ emitPerSecond: 10, fate: () => 'silent' })
    harness.write(...Array.from({ length: 8 }, (_, index) => observed(`user-${index}`, 1)), ended(1))
    await harness.advance(300)
    const before = harness.sent().length
    expect(before).toBeLessThan(8)
    harness.consumer.rebalance()
    await harness.advance(2_000)
    expect(new Set(harness.sent().map(({ userId }) => userId)).size).toBe(8)
    expect(new Set(harness.sent().map(({ id }) => id)).size).toBe(8)
  })

  it('gets no write while the group does not confirm this process, and continues afterwards', async () => {
    const harness = await AudiencesHarness.started()
    harness.write(observed('ann', 1))
    await harness.advance(0)
    harness.log.unwritable.add(harness.topics.events)
    harness.write(observed('bob', 1), observed('cem', 1))
    await harness.advance(0)
    harness.consumer.confirmed = false
    harness.log.unwritable.clear()
    const before = harness.written.length
    harness.write(observed('dee', 1))
    await harness.advance(60_000)
    expect(harness.written).toHaveLength(before)
    harness.consumer.confirmed = true
    harness.consumer.handlers?.onLeaseAcquired()
    await harness.advance(20_000)
    expect(harness.sent().map(({ userId }) => userId)).toEqual(['ann', 'bob', 'cem', 'dee'])
    expect(harness.committed()).toBe(harness.log.records(harness.topics.audienceInput).length)
  })

  it.each([
    ['they are written when the group confirms this process again', true],
    ['they are never written when another process owns the partition', false],
  ])('queued records of a frozen process are not written when it wakes: %s', async (_, isStillOurs) => {
    const harness = await AudiencesHarness.started({ fate: () => 'silent' })
    harness.isFrozen = true
    harness.write(observed('ann', 1))
    await harness.advance(0)
    harness.consumer.confirmed = false
    harness.isFrozen = false
    await harness.advance(60_000)
    expect(harness.written).toEqual([])
    expect(harness.count(`produceFailures{${harness.topics.memberships}}`)).toBe(0)
    expect(harness.service.health().ready.filter(({ ok }) => !ok)).toEqual([])
    if (!isStillOurs) harness.consumer.handlers?.onRevoked([own])
    harness.consumer.confirmed = true
    harness.consumer.handlers?.onLeaseAcquired()
    await harness.advance(1_000)
    const { events, memberships } = harness.topics
    expect(harness.written).toEqual(isStillOurs ? [memberships, events, memberships] : [])
  })

  it('that is being revoked finishes changes in progress and starts none; it continues when the revocation is cancelled', async () => {
    const harness = await AudiencesHarness.started({ emitPerSecond: 10, fate: () => 'silent' })
    harness.write(...Array.from({ length: 8 }, (_, index) => observed(`user-${index}`, 1)))
    await harness.advance(300)
    const giving = harness.consumer.handlers?.onRevoking([own], Number.POSITIVE_INFINITY)
    await harness.advance(0)
    await giving
    const { events, memberships } = harness.topics
    const before = harness.sent().length
    // The service writes one membership record for each membership update, and one watermark.
    expect(harness.written.filter(topic => topic === memberships)).toHaveLength(before + 1)
    await harness.advance(5_000)
    expect(harness.written.filter(topic => topic === events)).toHaveLength(before)
    await harness.consumer.handlers?.onRevoking([], Number.POSITIVE_INFINITY)
    await harness.advance(5_000)
    expect(harness.sent()).toHaveLength(8)
  })
})

describe('the stop', () => {
  it('finishes and commits changes in progress, and starts none', async () => {
    const harness = await AudiencesHarness.started({ emitPerSecond: 10, fate: () => 'silent' })
    harness.write(...Array.from({ length: 8 }, (_, index) => observed(`user-${index}`, 1)))
    await harness.advance(300)
    const stopping = harness.service.stop()
    await harness.advance(0)
    await stopping
    const { events, memberships } = harness.topics
    const count = (topic: string): number => harness.written.filter(each => each === topic).length
    expect(count(memberships)).toBe(count(events) + 1)
    expect(harness.committed()).toBe(count(events))
    expect(harness.lines.filter(({ level }) => level === 'warn')).toEqual([])
  })

  it('does not wait forever for a topic that is not writable', async () => {
    const harness = await AudiencesHarness.started()
    harness.log.unwritable.add(harness.topics.memberships)
    harness.write(observed('ann', 1))
    await harness.advance(1)
    const stopping = harness.service.stop()
    await harness.advance(8_000)
    await stopping
    expect(harness.lines.at(-1)).toMatchObject({ level: 'warn', line: expect.stringContaining('shutdown timed out') })
  })
})
