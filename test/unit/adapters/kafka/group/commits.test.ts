import { describe, expect, it } from '@jest/globals'
import { createCommits, dueCommits } from '../../../../../src/adapters/kafka/group/commits.ts'
import { type Committed, OwnedPartitions } from '../../../../../src/adapters/kafka/group/owned-partitions.ts'
import type { ConsumerGroup } from '../../../../../src/adapters/kafka/kafkajs/private-api.ts'
import type { Position } from '../../../../../src/core/ports.ts'
import { durationMs } from '../../../../../src/core/time.ts'
import { ManualClock } from '../../../../support/manual-clock.ts'
import { RecordingLogger } from '../../../../support/telemetry/recording-logger.ts'
import { silent } from '../../../../support/telemetry/silent-logger.ts'
import { owned, settle } from './single-member-group.ts'

const at = (offset: number, metadata = '', partition = 0): Position => ({ topic: 'topic', partition, offset, metadata })

function owning(committed: Committed | undefined): OwnedPartitions {
  const partitions = new OwnedPartitions()
  partitions.add(owned(0, { committed }))
  return partitions
}

describe('dueCommits', () => {
  it.each([
    { name: 'commits a first position', committed: undefined, position: at(0), isDue: true },
    { name: 'commits a higher offset', committed: { offset: 5, metadata: '' }, position: at(6), isDue: true },
    { name: 'skips an unchanged offset', committed: { offset: 5, metadata: '' }, position: at(5), isDue: false },
    { name: 'skips a lower offset', committed: { offset: 5, metadata: '' }, position: at(4), isDue: false },
    {
      name: 'skips a lower offset with new metadata',
      committed: { offset: 5, metadata: '' },
      position: at(4, 'x'),
      isDue: false,
    },
    { name: 'commits new metadata', committed: { offset: 5, metadata: '' }, position: at(5, 'x'), isDue: true },
    { name: 'skips a partition that is not owned', committed: undefined, position: at(7, '', 3), isDue: false },
  ])('$name', ({ committed, position, isDue }) => {
    expect(dueCommits([position], owning(committed))).toHaveLength(isDue ? 1 : 0)
  })

  it('skips offset 0 while the beginning of the log is unknown', () => {
    const partitions = new OwnedPartitions()
    const partition = owned(0, { isBeginningUnknown: true, next: 0 })
    partitions.add(partition)
    expect(dueCommits([at(0)], partitions)).toEqual([])
    // The commit of offset 0 is needed for its metadata, which names the records that are done.
    partition.next = 3
    expect(dueCommits([at(0, 'done')], partitions)).toMatchObject([{ offset: 0, metadata: 'done' }])
  })

  it.each([-1, -2, Number.NaN, 1.5])('refuses %s, which Kafka would accept', offset => {
    expect(() => dueCommits([at(offset)], owning(undefined))).toThrow(RangeError)
  })
})

/** A coordinator that responds only when the test resolves a promise. */
function setUp() {
  const clock = new ManualClock()
  const sent: string[] = []
  const answers: PromiseWithResolvers<void>[] = []
  const group = {
    groupId: 'group',
    commitOffsets: ({ topics }: Parameters<ConsumerGroup['commitOffsets']>[0]) => {
      sent.push(topics.flatMap(({ partitions }) => partitions.map(({ offset }) => offset)).join())
      const answer = Promise.withResolvers<void>()
      answers.push(answer)
      return answer.promise
    },
  } as unknown as ConsumerGroup
  const state = { position: 0, group: group as ConsumerGroup | undefined }
  const commits = createCommits({
    owned: owning(undefined),
    positions: () => [at(state.position)],
    group: () => state.group,
    clock,
    logger: silent,
  })
  return { commits, clock, sent, answers, group, state, tick: () => clock.advance(250, settle) }
}

describe('periodic commits', () => {
  it('send one request at a time, with changes only', async () => {
    const { commits, sent, answers, state, tick } = setUp()
    commits.start()
    await tick()
    state.position = 3
    await tick()
    expect(sent).toEqual(['0'])
    answers[0]?.resolve()
    await settle()
    await tick()
    expect(sent).toEqual(['0', '3'])
    answers[1]?.resolve()
    await settle()
    await tick()
    expect(sent).toEqual(['0', '3'])
  })

  it('retry a failed commit at the next tick, with the positions at that time', async () => {
    const { commits, sent, answers, state, tick } = setUp()
    commits.start()
    await tick()
    state.position = 2
    answers[0]?.reject(new Error('rebalancing'))
    await settle()
    await tick()
    expect(sent).toEqual(['0', '2'])
  })

  it('send nothing during a join and after the stop', async () => {
    const { commits, clock, sent, state, group, tick } = setUp()
    commits.start()
    state.group = undefined
    await tick()
    expect(sent).toEqual([])
    state.group = group
    commits.stop()
    await tick()
    expect(sent).toEqual([])
    expect(clock.timers).toBe(0)
  })
})

describe('a broker that refuses long metadata', () => {
  function setUp(lengths: readonly number[]) {
    const partitions = new OwnedPartitions()
    lengths.forEach((_, partition) => {
      partitions.add(owned(partition))
    })
    const logger = new RecordingLogger()
    const results: string[] = []
    const sent: string[][] = []
    const state = { lengths, offset: 7, maxLength: 1_024, fails: false }
    const group = {
      groupId: 'group',
      async commitOffsets({ topics }: Parameters<ConsumerGroup['commitOffsets']>[0]) {
        const all = topics.flatMap(topic => topic.partitions)
        sent.push(all.map(({ partition, offset, metadata }) => `${partition}@${offset}:${metadata.length}`))
        const isTooLarge = all.some(({ metadata }) => metadata.length > state.maxLength)
        if (isTooLarge) throw Object.assign(new Error('too large'), { type: 'OFFSET_METADATA_TOO_LARGE' })
        if (state.fails) throw new Error('rebalancing')
      },
    } as unknown as ConsumerGroup
    const commits = createCommits({
      owned: partitions,
      positions: () => state.lengths.map((length, partition) => at(state.offset, 'x'.repeat(length), partition)),
      group: () => group,
      onCommit: result => results.push(result),
      clock: new ManualClock(),
      logger,
    })
    const logged = () =>
      logger.lines.filter(({ level }) => level === 'error').map(({ line, fields }) => [fields['bytes'], line])
    return { ...{ state, sent, results, logged }, flush: () => commits.flush(group, durationMs(1_000)) }
  }

  const logLine = expect.stringContaining('offset.metadata.max.bytes')

  it('gets the offsets without it, and later only shorter metadata', async () => {
    const { state, sent, results, logged, flush } = setUp([4_000, 1_900, 0])
    expect(await flush()).toBe(true)
    expect(sent.splice(0)).toEqual([
      ['0@7:4000', '1@7:1900', '2@7:0'],
      ['0@7:0', '1@7:1900', '2@7:0'],
      ['0@7:0', '1@7:0', '2@7:0'],
    ])
    expect(results).toEqual(['refused', 'refused', 'accepted'])
    expect(logged()).toEqual([[950, logLine]])
    // Offsets and metadata have not changed, so the refused metadata is not sent again.
    expect(await flush()).toBe(true)
    expect(sent.splice(0)).toEqual([])
    Object.assign(state, { offset: 8, lengths: [4_000, 900, 0] })
    expect(await flush()).toBe(true)
    expect(sent.splice(0)).toEqual([['0@8:0', '1@8:900', '2@8:0']])
    expect(logged()).toHaveLength(1)
    Object.assign(state, { offset: 9, maxLength: 512 })
    expect(await flush()).toBe(true)
    expect(sent.at(-1)).toEqual(['0@9:0', '1@9:0', '2@9:0'])
    expect(logged().at(1)).toEqual([450, logLine])
  })

  it('is logged when a commit succeeds', async () => {
    const { state, logged, flush } = setUp([4_000])
    state.fails = true
    expect(await flush()).toBe(false)
    expect(logged()).toEqual([])
    state.fails = false
    expect(await flush()).toBe(true)
    expect(logged()).toEqual([[2_000, logLine]])
  })
})

describe('flush', () => {
  it('waits for the commit in progress, then commits later changes', async () => {
    const { commits, sent, answers, state, group, tick } = setUp()
    commits.start()
    await tick()
    state.position = 4
    const flushed = commits.flush(group, durationMs(1_000))
    await settle()
    expect(sent).toEqual(['0'])
    answers[0]?.resolve()
    await settle()
    expect(sent).toEqual(['0', '4'])
    answers[1]?.resolve()
    expect(await flushed).toBe(true)
  })

  it('ends at its limit; its queued commit is not sent during the next join', async () => {
    const { commits, clock, sent, answers, state, group, tick } = setUp()
    commits.start()
    await tick()
    commits.stop()
    state.position = 4
    const flushed = commits.flush(group, durationMs(1_000))
    await clock.advance(1_000, settle)
    expect(await flushed).toBe(false)
    state.group = undefined
    answers[0]?.resolve()
    await settle()
    expect(sent).toEqual(['0'])
    expect(clock.timers).toBe(0)
  })
})
