import { describe, expect, it } from '@jest/globals'
import type { Destination } from '../../../../src/core/settings/settings.ts'
import { duration, durations } from '../../../support/builders.ts'
import { trackMessage } from '../../../support/collector/normalised-track-message.ts'
import { answered, DispatcherHarness, defaultSchedule, destination, ok } from '../../../support/dispatcher/harness.ts'

const hour = 3_600_000
const strict = destination('strict', {
  policy: { timeout: duration('3s'), schedule: durations('10s 2m'), window: duration('10m'), ordering: 'none' },
})
const usual = destination('usual')

const callsTo = (harness: DispatcherHarness, id: string) =>
  harness.calls.filter(({ call }) => call.url.startsWith(`https://${id}.`))
const waitsOf = (harness: DispatcherHarness, id: string): number[] => {
  const times = callsTo(harness, id).map(({ at }) => at)
  return times.slice(1).map((at, index) => at - (times[index] ?? 0))
}
const deadLetters = (harness: DispatcherHarness) =>
  harness.log.records(harness.topics.deadLetter).map(({ headers }) => headers)

describe('two destinations of one source with different policies', () => {
  it('each have their own schedule, window and timeout', async () => {
    const harness = await DispatcherHarness.started({ destinations: [strict, usual], answer: () => answered(503) })
    harness.write({ message: trackMessage('m1') })
    await harness.advance(5 * hour)
    expect(waitsOf(harness, 'strict')).toEqual(durations('10s 2m'))
    expect(waitsOf(harness, 'usual')).toEqual(defaultSchedule)
    const timeouts = ['strict', 'usual'].map(id => callsTo(harness, id)[0]?.call.timeoutMs)
    expect(timeouts).toEqual([duration('3s'), duration('5s')])
    const windows = deadLetters(harness).map(({ destination, reason, deadline, ...of }) => ({
      ...{ destination, reason },
      window: Number(deadline) - Number(of['started-at']),
    }))
    expect(windows).toEqual([
      { destination: 'strict', reason: 'retries_exhausted', window: duration('10m') },
      { destination: 'usual', reason: 'retries_exhausted', window: duration('4h') },
    ])
  })

  it.each<[string, 'key' | 'none', Record<string, number>]>([
    ['keep the order of a key in one of them', 'key', { strict: 2, usual: 1 }],
    ['keep it in none of them', 'none', { strict: 2, usual: 2 }],
  ])('%s', async (_, ordering, expected) => {
    const harness = await DispatcherHarness.started({
      destinations: [strict, usual],
      delivery: { ordering },
      answer: () => 'never',
    })
    for (const id of ['first', 'second']) harness.write({ message: trackMessage(id, { userId: 'u' }) })
    await harness.advance(1)
    const begun = ['strict', 'usual'].map(id => [id, callsTo(harness, id).length])
    expect(Object.fromEntries(begun)).toEqual(expected)
  })

  it('may keep the order of a key although the installation does not', async () => {
    const ordered = destination('ordered', { policy: { ordering: 'key' } })
    const harness = await DispatcherHarness.started({
      destinations: [ordered, usual],
      delivery: { ordering: 'none' },
      answer: () => 'never',
    })
    for (const id of ['first', 'second']) harness.write({ message: trackMessage(id, { userId: 'u' }) })
    await harness.advance(1)
    expect(['ordered', 'usual'].map(id => callsTo(harness, id).length)).toEqual([1, 2])
  })
})

describe('a change of the policy while a delivery waits', () => {
  /**
   * Lets a delivery fail once under the policy `before`, so that it waits for 10 s. Then the policy
   * becomes `after`.
   */
  async function changed(before: Destination['policy'], after: Destination['policy']): Promise<DispatcherHarness> {
    const crm = (policy: Destination['policy']) => destination('crm', policy === undefined ? {} : { policy })
    const harness = await DispatcherHarness.started({ destinations: [crm(before)], answer: () => answered(503) })
    harness.write({ message: trackMessage('m1') })
    await harness.advance(1)
    harness.destinations = [crm(after)]
    await harness.advance(5 * hour)
    return harness
  }

  it('a new schedule and timeout apply from its next attempt', async () => {
    const harness = await changed(undefined, { schedule: durations('10s 20s'), timeout: duration('1s') })
    expect(waitsOf(harness, 'crm')).toEqual(durations('10s 20s'))
    expect(harness.calls.map(({ call }) => call.timeoutMs)).toEqual([5_000, 1_000, 1_000])
  })

  it('a schedule without further waits ends it after its next attempt', async () => {
    const harness = await changed(undefined, { schedule: [] })
    expect(waitsOf(harness, 'crm')).toEqual(durations('10s'))
    expect(deadLetters(harness)[0]).toMatchObject({ reason: 'retries_exhausted', attempt: '2' })
  })

  it.each([
    ['a shorter window does not end it early', undefined, { window: duration('1m') }, defaultSchedule],
    ['a longer window does not extend it', { window: duration('1m') }, undefined, durations('10s 30s')],
  ])('%s', async (_, before, after, waits) => {
    const harness = await changed(before, after)
    expect(waitsOf(harness, 'crm')).toEqual(waits)
  })
})

describe('a pause with pauseKeepsWindow', () => {
  const crm = (paused: boolean, pauseKeepsWindow = true) =>
    destination('crm', { paused, lifecycle: { pauseKeepsWindow } })

  it('delivers after a pause that is longer than the window, also when the process was restarted', async () => {
    const harness = await DispatcherHarness.started({ destinations: [crm(true)] })
    harness.write({ message: trackMessage('m1') })
    for (let restarts = 0; restarts < 3; restarts++) {
      await harness.advance(10 * hour)
      await harness.restart()
    }
    expect(harness.calls).toEqual([])
    harness.destinations = [crm(false)]
    await harness.advance(duration('1h'))
    expect(harness.calls).toHaveLength(1)
    expect(deadLetters(harness)).toEqual([])
  })

  it('leaves the whole schedule for the time after the pause', async () => {
    const harness = await DispatcherHarness.started({ destinations: [crm(false)], answer: () => answered(503) })
    harness.write({ message: trackMessage('m1') })
    await harness.advance(duration('11s'))
    expect(harness.calls).toHaveLength(2)
    harness.destinations = [crm(true)]
    await harness.advance(6 * hour)
    harness.destinations = [crm(false)]
    await harness.advance(6 * hour)
    const waits = waitsOf(harness, 'crm')
    expect([waits.toSpliced(1, 1), waits.length]).toEqual([defaultSchedule.toSpliced(1, 1), defaultSchedule.length])
    expect(waits[1]).toBeGreaterThan(5.9 * hour)
  })

  it('dead-letters a delivery after 48 h and its window', async () => {
    const harness = await DispatcherHarness.started({ destinations: [crm(true)] })
    harness.write({ message: trackMessage('m1') })
    await harness.advance(48 * hour)
    // With deferrals of at most five minutes, a delivery would have 576 in 48 h. During a long
    // pause, deferrals become longer.
    expect(harness.count('deferrals{paused}')).toBeLessThan(100)
    await harness.advance(3 * hour)
    expect(deadLetters(harness)).toEqual([])
    await harness.advance(1 * hour + duration('6m'))
    const [dead] = deadLetters(harness)
    expect(dead).toMatchObject({ reason: 'retry_window_over', attempt: '0', 'paused-for': String(48 * hour) })
    expect(Number(dead?.['deadline']) - Number(dead?.['started-at'])).toBe(52 * hour)
  })

  it('counts what waited under it when it is switched off', async () => {
    const harness = await DispatcherHarness.started({ destinations: [crm(true)] })
    harness.write({ message: trackMessage('m1') })
    await harness.advance(10 * hour)
    harness.destinations = [crm(true, false)]
    await harness.advance(3 * hour)
    expect(deadLetters(harness)).toEqual([])
    await harness.advance(2 * hour)
    expect(deadLetters(harness)[0]).toMatchObject({ reason: 'retry_window_over' })
  })

  it('without it, the window continues', async () => {
    const harness = await DispatcherHarness.started({ destinations: [crm(true, false)], answer: () => ok })
    harness.write({ message: trackMessage('m1') })
    await harness.advance(4 * hour + duration('6m'))
    expect(deadLetters(harness)[0]).toMatchObject({ reason: 'retry_window_over', attempt: '0' })
    expect(deadLetters(harness)[0]).not.toHaveProperty('paused-for')
  })
})
