import { describe, expect, it } from '@jest/globals'
import { retryRecord } from '../../../../src/core/delivery/delivery-state.ts'
import type { Destination } from '../../../../src/core/settings/settings.ts'
import { durationMs } from '../../../../src/core/time.ts'
import { carriedOf, later, recordOf } from '../../../support/builders.ts'
import { trackMessage } from '../../../support/collector/normalised-track-message.ts'
import { answered, DispatcherHarness, destination, ok } from '../../../support/dispatcher/harness.ts'

const minute = 60_000

function shown(harness: DispatcherHarness, name: string): Record<string, number> {
  harness.service.refreshGauges()
  const own = [...harness.counts].filter(([key]) => key.startsWith(`${name}{`))
  return Object.fromEntries(own.map(([key, value]) => [key.slice(name.length + 1, -1), value]))
}

const ageOf = (harness: DispatcherHarness, seconds: number | undefined): number =>
  harness.clock.now() / 1000 - (seconds ?? Number.NaN)

describe('gauges of the lag', () => {
  it('show the append time of the oldest record in progress, or the current time', async () => {
    const harness = await DispatcherHarness.started({ answer: () => 'never' })
    expect(ageOf(harness, shown(harness, 'oldestRecord')[harness.topics.events])).toBe(0)
    harness.write({ message: trackMessage('first') })
    await harness.advance(3 * minute)
    harness.write({ message: trackMessage('second') })
    await harness.advance(minute)
    expect(ageOf(harness, shown(harness, 'oldestRecord')[harness.topics.events])).toBe(240)
  })

  it('show only retries as overdue that are due and not done', async () => {
    let calls = 0
    const harness = await DispatcherHarness.started({ answer: () => (calls++ === 0 ? answered(503) : 'never') })
    harness.write({ message: trackMessage('m') })
    await harness.advance(9_000)
    expect(ageOf(harness, shown(harness, 'oldestDueRetry')['10s'])).toBe(0)
    // The retry is due shortly after 10 s. Its request never ends.
    await harness.advance(5 * minute)
    const age = ageOf(harness, shown(harness, 'oldestDueRetry')['10s'])
    expect(age).toBeGreaterThan(4.9 * 60)
    expect(age).toBeLessThan(5 * 60)
    expect(ageOf(harness, shown(harness, 'oldestDueRetry')['30s'])).toBe(0)
  })
})

it('the lag of a partition grows while no record of it is due', async () => {
  const harness = await DispatcherHarness.started()
  const topic = harness.topics.retry(durationMs(60 * minute))
  const write = (): void => harness.log.write(topic, Buffer.from('not due for an hour'))
  write()
  await harness.advance(1)
  write()
  expect(shown(harness, 'consumerLag')[`${topic},0`]).toBe(1)
  await harness.advance(minute)
  expect(shown(harness, 'consumerLag')[`${topic},0`]).toBe(2)
})

describe('progress of a partition', () => {
  it('is the current time while it advances or has nothing to do, and stays when it does not advance', async () => {
    const harness = await DispatcherHarness.started({ answer: () => 'never' })
    const partition = `${harness.topics.events},0`
    expect(ageOf(harness, shown(harness, 'partitionProgress')[partition])).toBe(0)
    await harness.advance(10 * minute)
    expect(ageOf(harness, shown(harness, 'partitionProgress')[partition])).toBe(0)
    harness.write({ message: trackMessage('m') })
    await harness.advance(minute)
    shown(harness, 'partitionProgress')
    await harness.advance(7 * minute)
    expect(ageOf(harness, shown(harness, 'partitionProgress')[partition])).toBe(8 * 60)
  })

  it('is the current time while its retries are not due', async () => {
    const harness = await DispatcherHarness.started({ answer: () => answered(503, '3600') })
    harness.write({ message: trackMessage('m') })
    await harness.advance(30 * minute)
    for (const [partition, at] of Object.entries(shown(harness, 'partitionProgress')))
      expect([partition, ageOf(harness, at)]).toEqual([partition, 0])
  })

  it.each([
    ['stays while a due retry is not done', 'never', 605],
    ['is the current time while due retries are done', ok, 0],
  ] as const)('%s and later retries are not due', async (_name, result, expected) => {
    const harness = await DispatcherHarness.started({ answer: () => result })
    const topic = harness.topics.retry(durationMs(10_000))
    const value = harness.codec.encode({
      ...{ sourceId: 'web', destinationId: undefined, receivedAt: harness.clock.now(), canonical: true },
      ...{ origin: undefined, message: trackMessage('m') },
    })
    const { headers } = retryRecord(recordOf(), carriedOf({ deadline: later('4h', harness.clock.now()) }))
    const ages: number[] = []
    for (let count = 0; count < 122; count++) {
      harness.log.write(topic, value, 'user', headers)
      await harness.advance(5_000)
      ages.push(Math.floor(ageOf(harness, shown(harness, 'partitionProgress')[`${topic},0`])))
    }
    // `expected` is 605 without progress, because 605 s pass from the first scrape, when no retry
    // was due, to the last scrape.
    expect(Math.max(...ages)).toBe(expected)
  })

  it.each([
    ['later retries are not due', true],
    ['no later retry waits', false],
  ])('is the current time while a due retry waits for the rate of its destination and %s', async (_name, hasLater) => {
    const failed = new Set<unknown>()
    const harness = await DispatcherHarness.started({
      destinations: [
        destination('crm', { policy: { ratePerSecond: 1 }, filter: { types: ['track'] } }),
        destination('erp', { filter: { types: ['identify'] } }),
      ],
      delivery: { maxInFlight: 512, perWebhook: 64 },
      answer({ headers }) {
        const id = headers['X-Message-Id']
        if (String(id).startsWith('m') || failed.has(id)) return ok
        failed.add(id)
        return answered(503)
      },
    })
    await harness.advance(1_000)
    harness.write({ message: trackMessage('retried') })
    await harness.advance(2_000)
    for (let index = 0; index < 900; index++)
      harness.write({ message: trackMessage(`m${index}`, { userId: `m${index}` }) })
    const ages: number[] = []
    for (let count = 0; count < 122; count++) {
      if (hasLater) harness.write({ message: trackMessage(`e${count}`, { type: 'identify', userId: `e${count}` }) })
      await harness.advance(5_000)
      ages.push(ageOf(harness, shown(harness, 'partitionProgress')[`${harness.topics.retry(durationMs(10_000))},0`]))
    }
    expect(harness.count('deliveries{crm,delivered}')).toBeLessThan(900)
    expect(Math.max(...ages)).toBe(0)
  })
})

describe('a revoked partition', () => {
  it('has no lag series, and counts its records as handed back', async () => {
    const harness = await DispatcherHarness.started({ answer: () => 'never' })
    harness.write({ message: trackMessage('m') })
    await harness.advance(1_000)
    expect(shown(harness, 'consumerLag')[`${harness.topics.events},0`]).toBe(1)
    harness.live.handlers?.onRevoked([{ topic: harness.topics.events, partition: 0 }])
    expect(shown(harness, 'consumerLag')[`${harness.topics.events},0`]).toBeUndefined()
    expect(shown(harness, 'recordsFinished')).toMatchObject({ 'dispatcher,handed_back': 1, 'dispatcher,done': 0 })
    expect(shown(harness, 'assignedPartitions')['dispatcher']).toBe(0)
  })
})

describe('an open circuit breaker', () => {
  it.each<[string, readonly Destination[]]>([
    ['removed', []],
    ['disabled', [destination('crm', { enabled: false })]],
    ['paused', [destination('crm', { paused: true })]],
  ])('is not shown while its destination is %s', async (_state, destinations) => {
    const harness = await DispatcherHarness.started({ answer: () => answered(503) })
    for (let index = 0; index < 10; index++) harness.write({ message: trackMessage(`m-${index}`) })
    await harness.advance(30_000)
    expect(harness.gauge('breakersOpen{crm}')).toBe(1)
    expect(harness.service.activity.activityOf('crm')).toMatchObject({ breaker: 'open' })
    const configured = harness.destinations
    harness.destinations = destinations
    expect(harness.gauge('breakersOpen{crm}')).toBeUndefined()
    expect(harness.service.activity.activityOf('crm')).toBeUndefined()
    harness.destinations = configured
    expect(harness.gauge('breakersOpen{crm}')).toBe(1)
  })
})

describe('joins', () => {
  it('are counted by group, also without revoked partitions', async () => {
    const harness = await DispatcherHarness.started()
    await harness.live.handlers?.onRevoking([], Number.POSITIVE_INFINITY)
    await harness.live.handlers?.onRevoking([{ topic: harness.topics.events, partition: 0 }], Number.POSITIVE_INFINITY)
    await harness.retries.handlers?.onRevoking([], Number.POSITIVE_INFINITY)
    expect(shown(harness, 'groupJoins')).toEqual({ dispatcher: 2, retries: 1 })
  })
})
