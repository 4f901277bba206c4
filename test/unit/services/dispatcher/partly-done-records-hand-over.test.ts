import { describe, expect, it } from '@jest/globals'
import { durationMs } from '../../../../src/core/time.ts'
import type { CallResult, WebhookCall } from '../../../../src/core/webhook-ports.ts'
import { trackMessage } from '../../../support/collector/normalised-track-message.ts'
import { DispatcherHarness, destination, ok } from '../../../support/dispatcher/harness.ts'
import { ledgerRowsOf } from '../../../support/dispatcher/ledger-rows.ts'
import { replayEvents } from '../../../support/dispatcher/replay-dead-lettered-events.ts'

const idOf = (call: WebhookCall): string => call.headers['X-Message-Id'] as string
const hostOf = (call: WebhookCall): string => new URL(call.url).host.split('.')[0] as string

function sent(harness: DispatcherHarness): Readonly<Record<string, readonly string[]>> {
  const byHost = Map.groupBy(harness.calls, ({ call }) => hostOf(call))
  return Object.fromEntries([...byHost].map(([host, calls]) => [host, calls.map(({ call }) => idOf(call))]))
}

/**
 * `nextOwner` restarts the dispatcher. The endpoint of `slow` responds only after this restart, and
 * the others immediately.
 */
async function setUp(names: readonly string[], count: number) {
  let isSlow = true
  const answer = (call: WebhookCall): CallResult | 'never' => (isSlow && hostOf(call) === 'slow' ? 'never' : ok)
  const harness = await DispatcherHarness.started({
    destinations: ['slow', ...names].map(name => destination(name)),
    answer,
    delivery: { perWebhook: 1 },
  })
  const ids = Array.from({ length: count }, (_, index) => `m${index}`)
  for (const id of ids) harness.write({ message: trackMessage(id, { userId: 'u' }) })
  await harness.advance(1)
  return {
    harness,
    ids,
    async nextOwner(): Promise<void> {
      isSlow = false
      await harness.restart()
      await harness.advance(60_000)
    },
  }
}

describe('a record with one destination done when its partition is handed over', () => {
  it('SIGTERM: the next process delivers it only to the other destinations, in order per user', async () => {
    const { harness, ids, nextOwner } = await setUp(['fast'], 20)
    expect(sent(harness)).toEqual({ slow: ['m0'], fast: ids })
    const stopped = harness.service.stop()
    await harness.advance(10_000)
    await stopped
    await nextOwner()
    // The request to `slow` that did not end in time is repeated.
    expect(sent(harness)).toEqual({ slow: ['m0', ...ids], fast: ids })
    expect(harness.log.committed('live', harness.topics.events)).toBe(20)
  })

  it('SIGTERM: no record is admitted while requests in progress end', async () => {
    const { harness } = await setUp(['fast'], 1)
    const stopped = harness.service.stop()
    await harness.advance(100)
    harness.log.write(harness.topics.events, Buffer.from('invalid'), null)
    await harness.advance(1_000)
    expect(harness.log.records(harness.topics.deadLetter)).toEqual([])
    await harness.advance(10_000)
    await stopped
    expect(harness.log.committed('live', harness.topics.events)).toBe(0)
  })

  it('revocation: no record is admitted while requests in progress end, until the revocation is cancelled', async () => {
    const { harness } = await setUp(['fast'], 1)
    const partition = { topic: harness.topics.events, partition: 0 }
    void harness.live.handlers?.onRevoking([partition], Number.POSITIVE_INFINITY)
    harness.log.write(harness.topics.events, Buffer.from('invalid'), null)
    await harness.advance(1_000)
    expect(harness.log.records(harness.topics.deadLetter)).toEqual([])
    void harness.live.handlers?.onRevoking([], Number.POSITIVE_INFINITY)
    await harness.advance(1_000)
    expect(harness.log.records(harness.topics.deadLetter)).toHaveLength(1)
  })

  it('revocation: the last commit says which destinations are done', async () => {
    const { harness, ids, nextOwner } = await setUp(['fast', 'other'], 20)
    const partition = { topic: harness.topics.events, partition: 0 }
    void harness.live.handlers?.onRevoking([partition], Number.POSITIVE_INFINITY)
    await harness.advance(8_000)
    harness.live.handlers?.onRevoked([partition])
    await nextOwner()
    expect(sent(harness)).toEqual({ slow: ['m0', ...ids], fast: ids, other: ids })
  })

  it('SIGKILL: a destination that was committed as done gets no repeat', async () => {
    const { harness, ids, nextOwner } = await setUp(['fast'], 20)
    await nextOwner()
    expect(sent(harness)['fast']).toEqual(ids)
  })

  it('a second hand-over before any read keeps the destinations that the first owner has done', async () => {
    const { harness, ids, nextOwner } = await setUp(['fast'], 20)
    await harness.restart()
    await harness.service.stop()
    await nextOwner()
    expect(sent(harness)['fast']).toEqual(ids)
  })
})

describe('more destinations than the commit metadata has room for', () => {
  const names = Array.from({ length: 80 }, (_, index) => `${'long-name-'.repeat(5)}${index}`)

  it('defers the other deliveries of a record, so that none is repeated', async () => {
    const { harness, ids, nextOwner } = await setUp(names, 5)
    const stopped = harness.service.stop()
    await harness.advance(10_000)
    await stopped
    expect(harness.count('deferrals{handover}')).toBeGreaterThan(0)
    // The endpoint did not cause this deferral, so it is not counted.
    const deferred = harness.log.records(harness.topics.retry(durationMs(10_000)))
    expect(new Set(deferred.map(({ headers }) => headers['deferrals']))).toEqual(new Set(['0']))
    await nextOwner()
    const { slow = [], ...others } = sent(harness)
    const [first, ...rest] = ids
    for (const name of names) expect(others[name]?.filter(id => id !== first)).toEqual(rest)
    expect(slow.filter(id => id !== first).sort()).toEqual(rest)
  })

  it('continues when the revocation is cancelled', async () => {
    const { harness, ids } = await setUp(names, 5)
    void harness.live.handlers?.onRevoking([{ topic: harness.topics.events, partition: 0 }], Number.POSITIVE_INFINITY)
    await harness.advance(1)
    void harness.live.handlers?.onRevoking([], Number.POSITIVE_INFINITY)
    await harness.advance(60_000)
    for (const name of names) expect(sent(harness)[name]).toEqual(ids)
  })
})

it('a changed configuration repeats no delivery', async () => {
  const { harness, ids, nextOwner } = await setUp(['fast'], 20)
  harness.destinations = ['slow', 'fast', 'new'].map(name => destination(name))
  await harness.advance(1_000)
  await nextOwner()
  expect(sent(harness)['fast']).toEqual(ids)
})

describe('a record with one destination done, whose source the next owner does not know', () => {
  const counts = { replayed: 0, repeated: 0, delivered: 3, difference: 0 }

  it('is delivered only to the other destinations when the source becomes known', async () => {
    const { harness, ids, nextOwner } = await setUp(['fast'], 3)
    const { sources } = harness
    harness.sources = []
    await nextOwner()
    expect(sent(harness)).toEqual({ slow: ['m0'], fast: ids })
    harness.sources = sources
    await harness.advance(60_000)
    expect(sent(harness)).toEqual({ slow: ['m0', ...ids], fast: ids })
    expect(ledgerRowsOf(harness)).toEqual({
      '-': { ...counts, admitted: 0, delivered: 0 },
      slow: { ...counts, admitted: 3 },
      fast: { ...counts, admitted: 3 },
    })
  })

  it('is delivered only to the other destinations when its dead letter is replayed', async () => {
    const { harness, ids, nextOwner } = await setUp(['fast'], 3)
    const { sources } = harness
    harness.sources = []
    await nextOwner()
    await harness.advance(60_000)
    expect(harness.log.records(harness.topics.deadLetter).map(({ headers }) => headers)).toMatchObject(
      ids.map(id => ({ reason: 'unknown_source', 'message-id': id, 'done-for': 'fast' })),
    )
    harness.sources = sources
    replayEvents(harness)
    await harness.advance(1)
    expect(sent(harness)).toEqual({ slow: ['m0', ...ids], fast: ids })
    expect(ledgerRowsOf(harness)).toEqual({
      '-': { ...counts, admitted: 3, delivered: 0 },
      slow: { ...counts, admitted: 0, replayed: 3 },
      fast: { ...counts, admitted: 3 },
    })
  })
})
