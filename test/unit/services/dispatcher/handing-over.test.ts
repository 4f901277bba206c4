import { describe, expect, it } from '@jest/globals'
import type { CallResult, WebhookCall } from '../../../../src/core/ports.ts'
import { durationMs } from '../../../../src/core/units.ts'
import { trackMessage } from '../../../support/collector/messages.ts'
import { DispatcherHarness, destination, ok } from '../../../support/dispatcher/harness.ts'

const idOf = (call: WebhookCall): string => call.headers['X-Message-Id'] as string
const hostOf = (call: WebhookCall): string => new URL(call.url).host.split('.')[0] as string

/** Calls by destination: the message ids, in the order in which they were sent. */
function sent(harness: DispatcherHarness): Readonly<Record<string, readonly string[]>> {
  const byHost = Map.groupBy(harness.calls, ({ call }) => hostOf(call))
  return Object.fromEntries([...byHost].map(([host, calls]) => [host, calls.map(({ call }) => idOf(call))]))
}

/** `slow` takes one call at a time and does not answer before it is let; the others answer immediately. */
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

describe('a record whose fast destination is done when its partition goes', () => {
  it('SIGTERM: the next process delivers it only to the destinations that wait for it, in the order of the user', async () => {
    const { harness, ids, nextOwner } = await setUp(['fast'], 20)
    expect(sent(harness)).toEqual({ slow: ['m0'], fast: ids })
    const stopped = harness.service.stop()
    await harness.advance(10_000)
    await stopped
    await nextOwner()
    // The call that did not end in time is made again.
    expect(sent(harness)).toEqual({ slow: ['m0', ...ids], fast: ids })
    expect(harness.log.committed('live', harness.topics.events)).toBe(20)
  })

  it('revocation: the commit that gives it up says which destinations are done', async () => {
    const { harness, ids, nextOwner } = await setUp(['fast', 'other'], 20)
    const partition = { topic: harness.topics.events, partition: 0 }
    void harness.live.handlers?.onRevoking([partition])
    await harness.advance(8_000)
    harness.live.handlers?.onRevoked([partition])
    await nextOwner()
    expect(sent(harness)).toEqual({ slow: ['m0', ...ids], fast: ids, other: ids })
  })

  it('SIGKILL: what was committed as done for a destination is not repeated there', async () => {
    const { harness, ids, nextOwner } = await setUp(['fast'], 20)
    await nextOwner()
    expect(sent(harness)['fast']).toEqual(ids)
  })

  it('a second hand-over before anything is read keeps what the first owner has done', async () => {
    const { harness, ids, nextOwner } = await setUp(['fast'], 20)
    await harness.restart()
    await harness.service.stop()
    await nextOwner()
    expect(sent(harness)['fast']).toEqual(ids)
  })
})

describe('with more destinations than a commit has room for', () => {
  const names = Array.from({ length: 80 }, (_, index) => `${'long-name-'.repeat(5)}${index}`)

  it('the rest of a record is deferred, so that nothing is repeated', async () => {
    const { harness, ids, nextOwner } = await setUp(names, 5)
    const stopped = harness.service.stop()
    await harness.advance(10_000)
    await stopped
    expect(harness.count('deferrals{handover}')).toBeGreaterThan(0)
    // The endpoint has no part in it: what comes later waits no longer for it.
    const deferred = harness.log.records(harness.topics.retry(durationMs(10_000)))
    expect(new Set(deferred.map(({ headers }) => headers['deferrals']))).toEqual(new Set(['0']))
    await nextOwner()
    const { slow = [], ...others } = sent(harness)
    // But the first, whose call to `slow` did not end in time: it comes again.
    const [first, ...rest] = ids
    for (const name of names) expect(others[name]?.filter(id => id !== first)).toEqual(rest)
    expect(slow.filter(id => id !== first).sort()).toEqual(rest)
  })

  it('a revocation that is called off goes on', async () => {
    const { harness, ids } = await setUp(names, 5)
    void harness.live.handlers?.onRevoking([{ topic: harness.topics.events, partition: 0 }])
    await harness.advance(1)
    void harness.live.handlers?.onRevoking([])
    await harness.advance(60_000)
    for (const name of names) expect(sent(harness)[name]).toEqual(ids)
  })
})

it('a changed configuration repeats nothing', async () => {
  const { harness, ids, nextOwner } = await setUp(['fast'], 20)
  harness.destinations = ['slow', 'fast', 'new'].map(name => destination(name))
  await harness.advance(1_000)
  await nextOwner()
  expect(sent(harness)['fast']).toEqual(ids)
})
