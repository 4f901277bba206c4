import { describe, expect, it } from '@jest/globals'
import type { Batch, ConsumerGroup } from '../../../../src/adapters/kafka/internals.ts'
import { Meanwhile } from '../../../../src/adapters/kafka/meanwhile.ts'
import { type OwnedPartition, Partitions } from '../../../../src/adapters/kafka/partitions.ts'
import { durationMs } from '../../../../src/core/units.ts'
import { ManualClock } from '../../../support/manual-clock.ts'
import { settle } from './one-member.ts'

function setUp(partitions: readonly Partial<OwnedPartition>[] = [{}]) {
  const owned = new Partitions()
  for (const [partition, given] of partitions.entries())
    owned.add({ topic: 'topic', partition, next: 7, paused: false, isLeaving: false, committed: undefined, ...given })
  const events: string[] = []
  const note = (event: string) => void events.push(event)
  /** The fetches that wait for their answer. */
  const fetches: PromiseWithResolvers<readonly Batch[]>[] = []
  const group = {
    getNodeIds: () => ['1'],
    resume: () => undefined,
    pause: ([{ partitions: paused }]: [{ partitions: number[] }]) => note(`pause ${paused}`),
    seek: ({ partition, offset }: { partition: number; offset: string }) => note(`seek ${partition} to ${offset}`),
  } as unknown as ConsumerGroup
  const clock = new ManualClock()
  const meanwhile = new Meanwhile({
    owned,
    clock,
    fetch: () => {
      const fetch = Promise.withResolvers<readonly Batch[]>()
      fetches.push(fetch)
      return fetch.promise
    },
    take: async ({ partition }) => note(`take of ${partition}`),
    beat: async () => {
      note('beat')
      throw Object.assign(new Error('as expected'), { type: 'REBALANCE_IN_PROGRESS' })
    },
  })
  const wait = (ms: number) => clock.advance(durationMs(ms), settle)
  const answer = async (...of: number[]) => {
    fetches.shift()?.resolve(of.map(partition => ({ partition }) as Batch))
    await settle()
  }
  return { meanwhile, group, owned, events, fetches, wait, answer }
}

describe('while a join waits for others', () => {
  it('what is ours is fetched from where it stands, and heartbeats go on', async () => {
    const { meanwhile, group, events, wait, answer } = setUp([{ next: 42 }, { paused: true }])
    meanwhile.begin(group)
    await wait(100)
    expect(events.splice(0)).toEqual(['seek 0 to 42', 'pause 1', 'seek 1 to 7'])
    await answer(0)
    expect(events).toEqual(['take of 0', 'beat', 'seek 0 to 42', 'pause 1', 'seek 1 to 7'])
  })

  it('a quick one is not disturbed', async () => {
    const { meanwhile, group, fetches, wait } = setUp()
    meanwhile.begin(group)
    await wait(50)
    meanwhile.end()
    await wait(1_000)
    expect(fetches).toEqual([])
  })

  it('a fetch that ends after the join brings nothing', async () => {
    const { meanwhile, group, events, fetches, wait, answer } = setUp()
    meanwhile.begin(group)
    await wait(100)
    meanwhile.end()
    await answer(0)
    expect(events).toEqual(['seek 0 to 7'])
    expect(fetches).toEqual([])
  })

  it('one of a join before has no say in the next', async () => {
    const { meanwhile, group, events, wait, answer, fetches } = setUp()
    meanwhile.begin(group)
    await wait(100)
    meanwhile.end()
    meanwhile.begin(group)
    await wait(100)
    expect(fetches).toHaveLength(2)
    await answer(0)
    expect(events).not.toContain('take of 0')
    await answer(0)
    expect(events).toContain('take of 0')
  })

  it('ends with what is ours, and with what goes wrong', async () => {
    const { meanwhile, group, owned, fetches, wait, answer } = setUp()
    meanwhile.begin(group)
    await wait(100)
    owned.delete({ topic: 'topic', partition: 0 })
    await answer()
    expect(fetches).toEqual([])
    owned.add({ topic: 'topic', partition: 0, next: 0, paused: false, isLeaving: false, committed: undefined })
    meanwhile.begin(group)
    await wait(100)
    fetches.shift()?.reject(new Error('broken'))
    await settle()
    expect(fetches).toEqual([])
  })
})
