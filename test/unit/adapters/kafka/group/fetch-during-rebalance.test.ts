import { describe, expect, it } from '@jest/globals'
import { RebalanceFetcher } from '../../../../../src/adapters/kafka/group/fetch-during-rebalance.ts'
import { type OwnedPartition, OwnedPartitions } from '../../../../../src/adapters/kafka/group/owned-partitions.ts'
import type { ConsumerGroup, FetchedBatch } from '../../../../../src/adapters/kafka/kafkajs/private-api.ts'
import { durationMs } from '../../../../../src/core/time.ts'
import { ManualClock } from '../../../../support/manual-clock.ts'
import { owned, settle } from './single-member-group.ts'

function setUp(partitions: readonly Partial<OwnedPartition>[] = [{}]) {
  const all = new OwnedPartitions()
  for (const [partition, given] of partitions.entries()) all.add(owned(partition, { next: 7, ...given }))
  const events: string[] = []
  const note = (event: string) => void events.push(event)
  /** The fetches that have no response yet. */
  const fetches: PromiseWithResolvers<readonly FetchedBatch[]>[] = []
  const group = {
    getNodeIds: () => ['1'],
    resume: () => undefined,
    pause: ([{ partitions: paused }]: [{ partitions: number[] }]) => note(`pause ${paused}`),
    seek: ({ partition, offset }: { partition: number; offset: string }) => note(`seek ${partition} to ${offset}`),
  } as unknown as ConsumerGroup
  const clock = new ManualClock()
  const fetcher = new RebalanceFetcher({
    owned: all,
    clock,
    fetch: () => {
      const fetch = Promise.withResolvers<readonly FetchedBatch[]>()
      fetches.push(fetch)
      return fetch.promise
    },
    deliver: async ({ partition }) => note(`take of ${partition}`),
    heartbeat: async () => {
      note('beat')
      throw Object.assign(new Error('as expected'), { type: 'REBALANCE_IN_PROGRESS' })
    },
  })
  const wait = (ms: number) => clock.advance(durationMs(ms), settle)
  const answer = async (...of: number[]) => {
    fetches.shift()?.resolve(of.map(partition => ({ partition }) as FetchedBatch))
    await settle()
  }
  return { fetcher, group, all, events, fetches, wait, answer }
}

describe('fetch during a rebalance', () => {
  it('fetches owned partitions from their positions, and sends heartbeats', async () => {
    const { fetcher, group, events, wait, answer } = setUp([{ next: 42 }, { paused: true }])
    fetcher.start(group)
    await wait(100)
    expect(events.splice(0)).toEqual(['seek 0 to 42', 'pause 1', 'seek 1 to 7'])
    await answer(0)
    expect(events).toEqual(['take of 0', 'beat', 'seek 0 to 42', 'pause 1', 'seek 1 to 7'])
  })

  it('does nothing during a quick join', async () => {
    const { fetcher, group, fetches, wait } = setUp()
    fetcher.start(group)
    await wait(50)
    fetcher.stop()
    await wait(1_000)
    expect(fetches).toEqual([])
  })

  it('delivers nothing of a fetch that ends after the join', async () => {
    const { fetcher, group, events, fetches, wait, answer } = setUp()
    fetcher.start(group)
    await wait(100)
    fetcher.stop()
    await answer(0)
    expect(events).toEqual(['seek 0 to 7'])
    expect(fetches).toEqual([])
  })

  it('delivers nothing of a fetch of the previous join', async () => {
    const { fetcher, group, events, wait, answer, fetches } = setUp()
    fetcher.start(group)
    await wait(100)
    fetcher.stop()
    fetcher.start(group)
    await wait(100)
    expect(fetches).toHaveLength(2)
    await answer(0)
    expect(events).not.toContain('take of 0')
    await answer(0)
    expect(events).toContain('take of 0')
  })

  it('ends when no partition is owned, and after an error', async () => {
    const { fetcher, group, all, fetches, wait, answer } = setUp()
    fetcher.start(group)
    await wait(100)
    all.delete({ topic: 'topic', partition: 0 })
    await answer()
    expect(fetches).toEqual([])
    all.add(owned(0))
    fetcher.start(group)
    await wait(100)
    fetches.shift()?.reject(new Error('broken'))
    await settle()
    expect(fetches).toEqual([])
  })
})
