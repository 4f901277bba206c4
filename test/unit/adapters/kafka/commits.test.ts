import { describe, expect, it } from '@jest/globals'
import { createCommits, dueCommits } from '../../../../src/adapters/kafka/commits.ts'
import type { ConsumerGroup } from '../../../../src/adapters/kafka/internals.ts'
import { type Committed, Partitions } from '../../../../src/adapters/kafka/partitions.ts'
import type { Position } from '../../../../src/core/ports.ts'
import { durationMs } from '../../../../src/core/units.ts'
import { ManualClock } from '../../../support/manual-clock.ts'
import { silent } from '../../../support/telemetry/silent-logger.ts'

const at = (offset: number, metadata = '', partition = 0): Position => ({ topic: 'topic', partition, offset, metadata })

function owning(committed: Committed | undefined): Partitions {
  const partitions = new Partitions()
  partitions.add({ topic: 'topic', partition: 0, next: 0, paused: false, isLeaving: false, committed })
  return partitions
}

describe('what is due to be committed', () => {
  it.each([
    { name: 'a first position', committed: undefined, position: at(0), isDue: true },
    { name: 'forward', committed: { offset: 5, metadata: '' }, position: at(6), isDue: true },
    { name: 'unchanged: not', committed: { offset: 5, metadata: '' }, position: at(5), isDue: false },
    { name: 'back: never', committed: { offset: 5, metadata: '' }, position: at(4), isDue: false },
    {
      name: 'back with other metadata: never',
      committed: { offset: 5, metadata: '' },
      position: at(4, 'x'),
      isDue: false,
    },
    { name: 'the same with other metadata', committed: { offset: 5, metadata: '' }, position: at(5, 'x'), isDue: true },
    { name: 'what is not ours: never', committed: undefined, position: at(7, '', 3), isDue: false },
  ])('$name', ({ committed, position, isDue }) => {
    expect(dueCommits([position], owning(committed))).toHaveLength(isDue ? 1 : 0)
  })

  it.each([-1, -2, Number.NaN, 1.5])('%s is no offset, though Kafka would take it', offset => {
    expect(() => dueCommits([at(offset)], owning(undefined))).toThrow(RangeError)
  })
})

/** A coordinator that answers when it is told to. */
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
  const settle = (): Promise<void> => new Promise(resolve => setImmediate(resolve))
  return { commits, clock, sent, answers, group, state, tick: () => clock.advance(250, settle), settle }
}

describe('committing by the clock', () => {
  it('one request at a time, and only what changed', async () => {
    const { commits, sent, answers, state, tick, settle } = setUp()
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

  it('what was refused is tried again at the next tick, with what holds then', async () => {
    const { commits, sent, answers, state, tick, settle } = setUp()
    commits.start()
    await tick()
    state.position = 2
    answers[0]?.reject(new Error('rebalancing'))
    await settle()
    await tick()
    expect(sent).toEqual(['0', '2'])
  })

  it('nothing during a join, nothing after the stop', async () => {
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

describe('flush', () => {
  it('waits for the commit under way and then commits what has come since', async () => {
    const { commits, sent, answers, state, group, tick, settle } = setUp()
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

  it('gives up at its limit; what it had queued does not run into the join that follows', async () => {
    const { commits, clock, sent, answers, state, group, tick, settle } = setUp()
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
