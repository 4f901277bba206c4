import { describe, expect, it } from '@jest/globals'
import { AudiencesHarness } from '../../../support/audience/harness.ts'
import { audience, ended, observed } from '../../../support/audience/partition-harness.ts'

const names = (harness: AudiencesHarness): string[] =>
  harness.sent().map(({ destination, userId, value }) => `${destination} ${userId} ${value}`)

const warnings = (harness: AudiencesHarness) => harness.lines.filter(({ level }) => level === 'warn')

describe('syncs', () => {
  it('the first writes an identify for every member, a later one only for the differences', async () => {
    const harness = await AudiencesHarness.started()
    harness.write(observed('ann', 1), observed('bob', 1), ended(1))
    await harness.advance(1)
    expect(names(harness)).toEqual(['crm ann true', 'crm bob true'])
    harness.write(observed('cem', 2), observed('bob', 2), observed('bob', 2), ended(2))
    await harness.advance(1)
    expect(names(harness).slice(2).toSorted()).toEqual(['crm ann false', 'crm cem true'])
    expect(harness.committed()).toBe(harness.log.records(harness.topics.audienceInput).length)
    expect(harness.count('audienceInputs{observed,changed}')).toBe(4)
    expect(harness.count('audienceInputs{observed,unchanged}')).toBe(1)
    expect(harness.count('audienceEmitted{crm}')).toBe(4)
  })

  it('logs a late one', async () => {
    const harness = await AudiencesHarness.started()
    harness.write(observed('ann', 2), ended(2), observed('bob', 1), ended(1))
    await harness.advance(1)
    expect(warnings(harness)).toMatchObject([
      {
        level: 'warn',
        fields: { result: 'sync_closed', mode: 'full' },
        line: expect.stringMatching(/applied this audience sync only in part/),
      },
    ])
  })

  it('memberships are in the partition of their input, identify messages in that of their user', async () => {
    const harness = await AudiencesHarness.started({ partitions: 5 })
    const users = ['ann', 'bob', 'cem', 'dee', 'eve']
    harness.write(...users.map(user => observed(user, 1)))
    await harness.advance(1)
    const { audienceInput, memberships, events } = harness.topics
    const partitionOf = (topic: string, user: string): number[] => [
      ...new Set(
        harness.log.records(topic).flatMap(({ key, partition }) => (String(key).includes(user) ? [partition] : [])),
      ),
    ]
    for (const user of users) {
      const [own] = partitionOf(audienceInput, user)
      expect(partitionOf(memberships, user)).toEqual([own])
      expect(partitionOf(events, user)).toEqual([own])
    }
    expect(new Set(users.flatMap(user => partitionOf(audienceInput, user))).size).toBeGreaterThan(1)
  })

  it('each identify is written before its state, and a watermark after everything before it', async () => {
    const harness = await AudiencesHarness.started({ fate: () => 'silent' })
    harness.write(observed('ann', 1), ended(1))
    await harness.advance(1)
    const { events, memberships } = harness.topics
    const keys = harness.log.records(memberships).map(({ key }) => JSON.parse(String(key)).length)
    expect(keys.slice(0, 2)).toEqual([1, 3])
    expect(harness.written.slice(0, 3)).toEqual([memberships, events, memberships])
    expect(keys.lastIndexOf(1)).toBe(keys.length - 1)
  })

  it('one of an unknown audience or a deleted user is counted and changes nothing', async () => {
    const harness = await AudiencesHarness.started()
    harness.marks.apply('ann', [{ source: undefined, deletedAt: harness.clock.now(), isSuppressed: true }])
    harness.write(observed('ann', 1), { ...observed('bob', 1), audience: 'Unknown' } as never)
    await harness.advance(120_000)
    expect(harness.sent()).toEqual([])
    expect(harness.count('audienceInputs{observed,unknown_audience}')).toBe(1)
    expect(harness.committed()).toBe(2)
  })

  it('one of an audience that this process gets a minute later loses nothing', async () => {
    const harness = await AudiencesHarness.started()
    harness.audiences = []
    harness.write(observed('ann', 1), observed('bob', 1), ended(1))
    await harness.advance(60_000)
    expect(harness.sent()).toEqual([])
    expect(warnings(harness)).toMatchObject([{ fields: { audience, partition: 0 } }])
    harness.audiences = [audience]
    await harness.advance(1_000)
    expect(names(harness)).toEqual(['crm ann true', 'crm bob true'])
    expect(harness.count('audienceInputs{observed,unknown_audience}')).toBe(0)
    expect(harness.committed()).toBe(harness.log.records(harness.topics.audienceInput).length)
  })

  it('a removed audience pauses a partition only until its last input is two minutes old', async () => {
    const harness = await AudiencesHarness.started()
    for (let second = 0; second < 10; second += 1) {
      harness.write(...Array(100).fill({ ...observed('bob', 1), audience: 'Unknown' }))
      await harness.advance(1_000)
    }
    harness.write(observed('ann', 1))
    await harness.advance(120_000)
    expect(names(harness)).toEqual(['crm ann true'])
    expect(warnings(harness)).toHaveLength(1)
  })

  it('other work of the process runs while the end of a sync visits the members', async () => {
    const harness = await AudiencesHarness.started()
    harness.write(...Array.from({ length: 2_500 }, (_, index) => observed(`user-${index}`, 1)))
    await harness.advance(1)
    let turns = 0
    const { clock } = harness
    const soon = clock.soon.bind(clock)
    clock.soon = run => {
      turns++
      return soon(run)
    }
    harness.write(ended(1))
    await harness.advance(1)
    // Two turns at the end of the sync, and two while users are removed.
    expect(turns).toBe(4)
  })

  it('the current configuration decides which destinations get an audience', async () => {
    const harness = await AudiencesHarness.started()
    harness.write(observed('ann', 1), ended(1))
    await harness.advance(1)
    harness.destinations = ['crm', 'erp']
    harness.write(observed('ann', 2), ended(2))
    await harness.advance(1)
    expect(names(harness)).toEqual(['crm ann true', 'erp ann true'])
  })
})

describe('the rate of identify messages', () => {
  it('follows the current configuration', async () => {
    const harness = await AudiencesHarness.started({ emitPerSecond: 10 })
    harness.write(...Array.from({ length: 60 }, (_, index) => observed(`user-${index}`, 1)))
    await harness.advance(1_000)
    expect(harness.sent().length).toBeGreaterThanOrEqual(10)
    expect(harness.sent().length).toBeLessThanOrEqual(12)
    harness.service.refreshGauges()
    expect(harness.count('audienceEmissionsWaiting{}')).toBe(60 - harness.sent().length)
    harness.emitPerSecond = 20
    await harness.advance(1_000)
    expect(harness.sent().length).toBeGreaterThanOrEqual(29)
    expect(harness.sent().length).toBeLessThanOrEqual(33)
    await harness.advance(5_000)
    expect(harness.sent()).toHaveLength(60)
    // Only two timers are left: one for the check of the log, one for the check of the end offsets.
    expect(harness.clock.timers).toBe(2)
  })

  it('applies to all users, with a limit for changes in progress', async () => {
    const harness = await AudiencesHarness.started({ emitPerSecond: 1_000_000 })
    harness.write(...Array.from({ length: 2_500 }, (_, index) => observed(`user-${index}`, 1)), ended(1))
    await harness.advance(1)
    expect(harness.sent()).toHaveLength(2_500)
    harness.write(observed('user-7', 2), ended(2))
    await harness.advance(1)
    expect(harness.sent()).toHaveLength(2_500 + 2_499)
    expect(harness.committed()).toBe(harness.log.records(harness.topics.audienceInput).length)
  })
})

describe('inputs that cannot be decoded', () => {
  it.each<[string, Buffer | null]>([
    ['bytes that are not an input', Buffer.from('no input')],
    ['no value', null],
    ['a schema that the registry does not know', Buffer.from('schema:404:{}')],
  ])('%s: dead-lettered, and later inputs are handled', async (_name, value) => {
    const harness = await AudiencesHarness.started()
    const { audienceInput, deadLetter } = harness.topics
    harness.log.write(audienceInput, value, 'ann', { trace: 't' })
    harness.write(observed('bob', 1))
    await harness.advance(1)
    expect(names(harness)).toEqual(['crm bob true'])
    expect(harness.log.records(deadLetter)).toEqual([
      expect.objectContaining({
        value: value ?? Buffer.alloc(0),
        headers: expect.objectContaining({
          reason: 'undecodable',
          'origin-topic': audienceInput,
          'origin-offset': '0',
          trace: 't',
        }),
      }),
    ])
    expect(harness.committed()).toBe(harness.log.records(audienceInput).length)
    expect(harness.count('audienceInputs{-,undecodable}')).toBe(1)
    expect(harness.count('deadLetters{-,undecodable}')).toBe(1)
    expect(harness.lines.filter(({ level }) => level === 'warn')).toHaveLength(1)
  })

  it('one of a full sync: the sync removes nobody, because the record may have listed a user', async () => {
    const harness = await AudiencesHarness.started()
    harness.write(observed('ann', 0), observed('bob', 0), ended(0))
    await harness.advance(120_000)
    harness.log.write(harness.topics.audienceInput, Buffer.from('no input'), 'ann')
    harness.write(observed('bob', 1), ended(1))
    await harness.advance(1)
    expect(names(harness)).toEqual(['crm ann true', 'crm bob true'])
    expect(harness.count('audienceInputs{sync_ended,sync_cancelled}')).toBe(1)
    expect(harness.count('deadLetters{-,undecodable}')).toBe(1)
    expect(harness.committed()).toBe(harness.log.records(harness.topics.audienceInput).length)
  })

  it('the watermarks of all audiences are written concurrently', async () => {
    const harness = await AudiencesHarness.started()
    const { audienceInput, memberships } = harness.topics
    harness.audiences = [audience, 'Buyers', 'Visitors']
    harness.log.unwritable.add(memberships)
    harness.log.write(audienceInput, Buffer.from('no input'), 'ann')
    await harness.advance(1)
    // If the writes waited for each other, only the first write would have failed by now.
    expect(harness.count(`produceFailures{${memberships}}`)).toBe(3)
  })

  it('a schema that is not known yet pauses the partition until it is', async () => {
    const harness = await AudiencesHarness.started()
    harness.inputs.registryIsDown = true
    const value = `schema:7:${JSON.stringify(observed('ann', 1))}`
    harness.log.write(harness.topics.audienceInput, Buffer.from(value), 'ann')
    harness.write(observed('bob', 1))
    await harness.advance(5_000)
    expect(harness.sent()).toEqual([])
    harness.inputs.registryIsDown = false
    await harness.advance(1_000)
    expect(names(harness)).toEqual(['crm ann true', 'crm bob true'])
  })
})

describe('inputs that Kafka lost', () => {
  const at = { topic: 'hookline.audience-input', partition: 0 }
  const losses: Readonly<Record<string, (harness: AudiencesHarness) => void>> = {
    'deleted by retention': ({ consumer }) => {
      const next = consumer.handlers?.positions()[0]?.offset ?? 0
      consumer.handlers?.onRecords({ ...at, records: [], nextOffset: next, highWatermark: next, isAfterLoss: true })
    },
    'lost with the end of the log': ({ consumer }) => {
      const [position] = consumer.handlers?.positions() ?? []
      consumer.handlers?.onRevoked([at])
      consumer.handlers?.onAssigned([{ ...at, offset: position?.offset ?? 0, metadata: '', isTruncated: true }])
    },
  }

  it.each(Object.entries(losses))('%s: full syncs that began earlier remove nobody', async (_name, lose) => {
    const harness = await AudiencesHarness.started()
    harness.write(observed('ann', 0), observed('bob', 0), ended(0))
    await harness.advance(120_000)
    harness.write(observed('bob', 1))
    await harness.advance(1)
    lose(harness)
    harness.write(ended(1))
    await harness.advance(1)
    expect(names(harness)).toEqual(['crm ann true', 'crm bob true'])
    expect(harness.count('audienceInputs{sync_ended,sync_cancelled}')).toBe(1)
    expect(harness.count('deadLetters{-,undecodable}')).toBe(0)
    await harness.advance(120_000)
    harness.write(observed('bob', 4), ended(4))
    await harness.advance(1)
    expect(names(harness).slice(2)).toEqual(['crm ann false'])
    expect(harness.committed()).toBe(harness.log.records(harness.topics.audienceInput).length)
  })

  it('commits no later offset before the syncs are cancelled', async () => {
    const harness = await AudiencesHarness.started()
    harness.write(observed('ann', 0), ended(0))
    await harness.advance(1)
    harness.log.unwritable.add(harness.topics.memberships)
    losses['deleted by retention']?.(harness)
    await harness.advance(1)
    expect(harness.consumer.handlers?.positions()).toEqual([])
    harness.log.unwritable.clear()
    await harness.advance(15_000)
    expect(harness.consumer.handlers?.positions()).toHaveLength(1)
  })
})

describe('a topic that is not writable', () => {
  it.each(['events', 'memberships', 'deadLetter'] as const)(
    '%s: inputs wait, readiness and a metric report it, and inputs continue when it is writable again',
    async name => {
      const harness = await AudiencesHarness.started()
      const topic = harness.topics[name]
      harness.log.unwritable.add(topic)
      if (name === 'deadLetter') harness.log.write(harness.topics.audienceInput, null)
      else harness.write(observed('ann', 1))
      await harness.advance(60_000)
      expect(harness.committed()).toBe(0)
      expect(harness.count(`produceFailures{${topic}}`)).toBeGreaterThan(5)
      const check = harness.service.health().ready.find(({ name: each }) => each === 'audience topics')
      expect(check).toEqual({ name: 'audience topics', ok: false, detail: expect.stringContaining(topic) })

      harness.log.unwritable.clear()
      await harness.advance(15_000)
      expect(harness.committed()).toBe(harness.log.records(harness.topics.audienceInput).length)
      expect(harness.service.health().ready.every(({ ok }) => ok)).toBe(true)
      if (name !== 'deadLetter') expect(names(harness)).toEqual(['crm ann true'])
    },
  )
})
