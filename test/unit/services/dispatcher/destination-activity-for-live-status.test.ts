import { describe, expect, it } from '@jest/globals'
import { trackMessage } from '../../../support/collector/normalised-track-message.ts'
import { answered, DispatcherHarness, destination } from '../../../support/dispatcher/harness.ts'

const resultsOf = ({ service }: DispatcherHarness, id = 'crm') => ({ ...service.activity.results.of(id) })

describe('the results that a dispatcher counts', () => {
  it('are deliveries, failed attempts and dead letters', async () => {
    const statuses = [200, 503, 200, 400]
    const harness = await DispatcherHarness.started({ answer: () => answered(statuses.shift() ?? 200) })
    for (const id of ['m1', 'm2']) harness.write({ message: trackMessage(id) })
    await harness.advance(1)
    await harness.advance(10_000)
    harness.write({ message: trackMessage('m3') })
    await harness.advance(1)
    expect(resultsOf(harness)).toEqual({ delivered: 2, failed: 2, deadLettered: 1, dropped: 0 })
    expect(harness.service.activity.results.totals).toEqual({ admitted: 3, delivered: 2, failed: 2 })
    expect(harness.service.activity.partitions()).toBe(1)
  })

  it('are drops of a disabled destination', async () => {
    const harness = await DispatcherHarness.started({ destinations: [destination('crm', { enabled: false })] })
    harness.write({ message: trackMessage('m1') })
    await harness.advance(1)
    expect(resultsOf(harness)).toEqual({ delivered: 0, failed: 0, deadLettered: 0, dropped: 1 })
  })
})

describe('the activity of a destination', () => {
  it('is absent at rest, and has the requests in progress', async () => {
    const harness = await DispatcherHarness.started({ answer: () => 'never' })
    const activity = () => harness.service.activity.activityOf('crm')
    expect(activity()).toBeUndefined()
    harness.write({ message: trackMessage('m1') })
    await harness.advance(1)
    expect(activity()).toMatchObject({ breaker: 'closed', requestsInProgress: 1, inMemory: 0 })
  })

  it('has the open circuit breaker with the time of the next probe', async () => {
    let status = 503
    const harness = await DispatcherHarness.started({ answer: () => (status === 0 ? 'never' : answered(status)) })
    for (let index = 0; index < 10; index++) harness.write({ message: trackMessage(`m${index}`) })
    await harness.advance(1)
    expect(harness.service.activity.activityOf('crm')).toEqual({
      ...{ breaker: 'open', requestsInProgress: 0, inMemory: 0, pace: undefined },
      nextProbeAt: Math.round((harness.clock.now() + 30_000) / 1_000) * 1_000,
    })
    status = 0
    await harness.advance(60_000)
    expect(harness.service.activity.activityOf('crm')).toMatchObject({ breaker: 'probing', requestsInProgress: 1 })
  })

  it('has the pace after a 429', async () => {
    const harness = await DispatcherHarness.started({ answer: () => answered(429) })
    harness.write({ message: trackMessage('m1') })
    await harness.advance(1)
    expect(harness.service.activity.activityOf('crm')?.pace).toBeGreaterThan(0)
    expect(harness.service.activity.activityOf('crm')?.pausedUntil).toBeUndefined()
  })

  it.each([429, 503])('has the end of the pause after a %d with Retry-After, until the pause ends', async status => {
    const harness = await DispatcherHarness.started({ answer: () => answered(status, '60') })
    harness.write({ message: trackMessage('m1') })
    await harness.advance(1)
    const pausedUntil = Math.round((harness.clock.now() + 60_000) / 1_000) * 1_000
    expect(harness.service.activity.activityOf('crm')).toMatchObject({ pausedUntil })
    await harness.advance(59_500)
    expect(harness.service.activity.activityOf('crm')?.pausedUntil).toBeUndefined()
  })
})
