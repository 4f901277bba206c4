import { describe, expect, it } from '@jest/globals'
import {
  changeGivenUp,
  changeRefused,
  givenUp,
  ReplayHarness,
  refusedEvent,
  topics,
} from '../../../support/operator/replay-harness.ts'

describe('a replay of membership updates', () => {
  it('asks for the current value, and marks the dead letter as replayed', async () => {
    const harness = new ReplayHarness([changeGivenUp(1), changeGivenUp(2, 'gone'), givenUp(3)])
    const rows = expect.arrayContaining([
      { destination: 'crm', reason: 'retries_exhausted', target: { topic: topics.audienceInput }, count: 1 },
      { destination: 'gone', reason: 'retries_exhausted', target: { refusal: 'unknown_destination' }, count: 1 },
    ])
    expect(await harness.replay()).toMatchObject({ total: 3, replayed: 2, rows })
    const inputs = harness.memoryTopics.records(topics.audienceInput)
    expect(inputs.map(({ key, value }) => [String(key), JSON.parse(String(value))])).toEqual([
      ['user-1', { kind: 'resend', audience: 'First time shopper', userId: 'user-1', destination: 'crm' }],
    ])
    expect(harness.parked).toEqual(['crm m-3 1'])
    expect(harness.standing.map(({ key }) => String(key))).toEqual(['gone/hookline.events/0/1002/1795248000000/0'])
  })

  it('asks for the current value also if the destination was unknown before the first attempt', async () => {
    const harness = new ReplayHarness([changeRefused(1), changeRefused(2, 'gone')])
    expect(await harness.replay()).toMatchObject({ total: 2, replayed: 1 })
    const inputs = harness.memoryTopics.records(topics.audienceInput)
    expect(inputs.map(({ value }) => JSON.parse(String(value)))).toEqual([
      { kind: 'resend', audience: 'First time shopper', userId: 'user-1', destination: 'crm' },
    ])
    expect(harness.memoryTopics.records(topics.events)).toEqual([])
  })

  it('does not use the registry for events that never became a delivery', async () => {
    const harness = new ReplayHarness([refusedEvent(2)])
    expect(await harness.replay()).toMatchObject({ replayed: 1 })
    expect(harness.opened).toBe(0)
  })

  it('replays an event of another producer as a delivery, whatever its id', async () => {
    const messageId = `audience-${'0'.repeat(40)}`
    const harness = new ReplayHarness([givenUp(3, 'crm', { messageId })])
    expect(await harness.replay()).toMatchObject({ replayed: 1 })
    expect(harness.parked).toEqual([`crm ${messageId} 1`])
  })

  it('fails when the registry cannot be reached; the rest can be replayed later', async () => {
    const harness = new ReplayHarness([changeGivenUp(1)])
    const down = new Error('registry is down')
    const events = () => Promise.reject(down)
    expect(await harness.replay({ events })).toMatchObject({ replayed: 0, end: { kind: 'failed', error: down } })
    expect(await harness.replay()).toMatchObject({ replayed: 1, end: { kind: 'done' } })
  })
})
