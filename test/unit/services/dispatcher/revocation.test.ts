import { describe, expect, it } from '@jest/globals'
import { tiersOf, topicNames } from '../../../../src/core/topics.ts'
import { webhookOf } from '../../../support/builders.ts'
import { trackMessage } from '../../../support/collector/normalised-track-message.ts'
import { answered, DispatcherHarness, defaultSchedule, destination, ok } from '../../../support/dispatcher/harness.ts'
import type { MemoryConsumer } from '../../../support/kafka/memory-log.ts'

const ids = (harness: DispatcherHarness): unknown[] => harness.calls.map(({ call }) => call.headers['X-Message-Id'])
const write = (harness: DispatcherHarness, ...messages: readonly string[]): void => {
  for (const id of messages) harness.write({ message: trackMessage(id, { userId: id }) })
}

const retryRecords = ({ log, topics }: DispatcherHarness): number =>
  tiersOf(defaultSchedule).reduce((sum, tier) => sum + log.records(topics.retry(tier)).length, 0)
const revokeAll = ({ handlers }: MemoryConsumer): void =>
  handlers?.onRevoked([{ topic: topicNames('hookline').events, partition: 0 }])

/** Starts a dispatcher that sends one request at a time, so the second message waits. */
async function setUp(answer: () => typeof ok | 'never' = () => ok) {
  const harness = await DispatcherHarness.started({ answer, delivery: { maxInFlight: 1 } })
  const partition = { topic: harness.topics.events, partition: 0 }
  const revoke = async (): Promise<string[]> => {
    const events: string[] = []
    void harness.live.handlers?.onRevoking([partition], Number.POSITIVE_INFINITY).then(() => events.push('idle'))
    await harness.advance(1)
    return events
  }
  return { harness, partition, revoke }
}

describe('a partition that is being revoked', () => {
  it('starts nothing more, reports when it is idle, and leaves the rest to the next owner', async () => {
    const { harness, partition, revoke } = await setUp(() => 'never')
    write(harness, 'a', 'b')
    await harness.advance(1)
    expect(ids(harness)).toEqual(['a'])
    const events = await revoke()
    await harness.advance(60_000)
    expect([ids(harness), events]).toEqual([['a'], []])
    harness.live.handlers?.onRevoked([partition])
    await harness.advance(1)
    expect(harness.service.health().live.find(({ name }) => name === 'progress')?.detail).toBe(
      'the oldest record has been in progress for 0 s; no webhook request ended in the last 0 s (limit: 900 s)',
    )
  })

  it('is idle when its last request has ended, and commits that', async () => {
    const { harness, revoke } = await setUp()
    write(harness, 'a')
    await harness.advance(1)
    expect(await revoke()).toEqual(['idle'])
    expect(harness.log.committed('live', harness.topics.events)).toBe(1)
  })

  it('continues in order when the revocation is cancelled', async () => {
    const { harness, revoke } = await setUp()
    await revoke()
    write(harness, 'a', 'b', 'c')
    await harness.advance(1)
    expect(ids(harness)).toEqual([])
    void harness.live.handlers?.onRevoking([], Number.POSITIVE_INFINITY)
    await harness.advance(1)
    expect(ids(harness)).toEqual(['a', 'b', 'c'])
  })
})

it('a request that ends after its partition was revoked changes nothing; the next owner repeats it', async () => {
  const { harness } = await setUp()
  write(harness, 'a')
  // The rebalance begins before the dispatcher has read the response to the request.
  harness.log.poll()
  harness.live.rebalance()
  await harness.advance(1)
  harness.service.refreshGauges()
  expect([ids(harness), harness.count('recordsOpen{}')]).toEqual([['a', 'a'], 0])
})

describe('while the group does not confirm this process as a member', () => {
  it('starts nothing; deliveries that were held back go first afterwards', async () => {
    const { harness } = await setUp()
    harness.live.confirmed = false
    write(harness, 'a', 'b')
    await harness.advance(60_000)
    expect(ids(harness)).toEqual([])
    harness.live.confirmed = true
    write(harness, 'c')
    harness.live.handlers?.onLeaseAcquired()
    await harness.advance(1)
    expect(ids(harness)).toEqual(['a', 'b', 'c'])
  })

  it.each([
    {
      name: 'confirms it again: writes them',
      next: (live: MemoryConsumer) => live.handlers?.onLeaseAcquired(),
      moved: 1,
    },
    { name: 'gives the partition away: leaves them to the next owner', next: revokeAll, moved: 0 },
  ])('writes no results of attempts in progress. When the group $name', async ({ next, moved }) => {
    const harness = await DispatcherHarness.started({ answer: () => answered(503), latencyMs: () => 1_000 })
    write(harness, 'a')
    await harness.advance(500)
    harness.live.confirmed = false
    await harness.advance(60_000)
    expect([ids(harness), retryRecords(harness)]).toEqual([['a'], 0])
    harness.live.confirmed = true
    next(harness.live)
    await harness.advance(1)
    expect(retryRecords(harness)).toBe(moved)
  })

  it('drops held deliveries of a revoked partition, which then block no other of the same user', async () => {
    const { harness } = await setUp()
    harness.live.confirmed = false
    harness.write({ message: trackMessage('a', { userId: 'u' }) })
    await harness.advance(1)
    harness.live.confirmed = true
    harness.live.rebalance()
    harness.write({ message: trackMessage('b', { userId: 'u' }) })
    await harness.advance(1)
    expect(ids(harness)).toEqual(['a', 'b'])
  })
})

it('destinations that wait for a permit of their host at a revocation deliver later events', async () => {
  const ids = Array.from({ length: 60 }, (_, index) => `destination-${index}`)
  const harness = await DispatcherHarness.started({
    destinations: ids.map((id, index) => destination(id, { webhooks: [webhookOf(index)] })),
    delivery: { perHost: 8 },
  })
  write(harness, 'a')
  // Eight requests to the host are in progress, and 52 destinations wait for one of its eight
  // permits.
  harness.log.poll()
  harness.live.handlers?.onRevoked([{ topic: harness.topics.events, partition: 0 }])
  await harness.advance(1)
  expect(harness.calls).toHaveLength(8)
  harness.live.rebalance()
  harness.write({ message: trackMessage('b', { userId: 'b' }), destinationId: ids[59] })
  await harness.advance(1)
  expect(harness.calls.filter(({ call }) => call.url.endsWith('/59'))).toHaveLength(2)
})
