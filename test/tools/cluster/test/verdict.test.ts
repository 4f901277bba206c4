import { describe, expect, it } from '@jest/globals'
import type { Delivery, Sent } from '../../chaos/message-ledger.ts'
import { type Evidence, judge } from '../verdict.ts'

const message = (id: string, at: number): Sent => ({ id, partition: 0, at, acknowledgedAt: at + 10 })
const delivered = (sent: Sent, at: number, process = 'pod-1', destination = 'crm'): Delivery => ({
  ...{ id: sent.id, destination, process, at, answer: 200, endedAt: at + 1, sent },
})
const [first, second] = [message('m-1', 0), message('m-2', 1_000)]
const evidence = (changes: Partial<Evidence> = {}): Evidence => ({
  limits: { restarts: 0, latestMs: 5_000 },
  ...{ destinations: ['crm'], sent: [first, second], posted: [], at: 500, victims: [], restarts: 0 },
  deliveries: [delivered(first, 100), delivered(second, 1_100)],
  ...changes,
})

describe('the verdict of a scenario on the cluster', () => {
  it('counts at both ends', () => {
    expect(judge(evidence())).toEqual({
      ...{ sent: 2, delivered: 2, lost: 0, duplicates: { inProgress: 0, ours: 0 }, refused: 0, restarts: 0 },
      ...{ p50Ms: 90, p99Ms: 90, latestMs: 90, pauseMs: 600, failures: [] },
    })
  })

  it('does not count a message without a 200 as lost, but as refused', () => {
    const unanswered = { ...second, acknowledgedAt: undefined }
    const posted = [{ collector: undefined, messages: 1, at: 0, endedAt: 1, answer: 503, retryAfter: undefined }]
    const { sent, lost, refused, failures } = judge(
      evidence({ sent: [first, unanswered], posted, deliveries: [delivered(first, 100)] }),
    )
    expect({ sent, lost, refused, failures }).toEqual({ sent: 1, lost: 0, refused: 1, failures: [] })
  })

  const sentAgain = {
    ...{ collector: undefined, messages: 1, at: 0, endedAt: 1, answer: 200, retryAfter: undefined },
    sentAgain: ['m-2'],
  }
  const again = [...evidence().deliveries, delivered(second, 1_200)]
  const refusedOnce = [
    { collector: undefined, messages: 1, at: 0, endedAt: 1, answer: 'broken', retryAfter: undefined },
  ]
  it.each<[string, Partial<Evidence>, string]>([
    ['a lost delivery', { deliveries: [delivered(first, 100)] }, 'lost: 1 (crm m-2)'],
    [
      'a destination that got nothing',
      { destinations: ['crm', 'warehouse'] },
      'lost: 2 (warehouse m-1; warehouse m-2)',
    ],
    ['a duplicate without a kill', { deliveries: again }, 'duplicates without a known cause: 1'],
    ['no load', { sent: [], deliveries: [] }, 'no message was accepted'],
    ['a restart', { restarts: 1 }, 'restarts: 1, limit 0'],
    [
      'a refused request',
      { limits: { restarts: 0, latestMs: 5_000, refused: 0 }, posted: refusedOnce as Evidence['posted'] },
      'requests to the collector without a 200: 1, limit 0',
    ],
    ['requests sent again', { posted: [sentAgain, sentAgain] }, 'requests that were sent again: 2, limit 1'],
    [
      'a long pause',
      { limits: { restarts: 0, latestMs: 5_000, pauseMs: 500 } },
      'the longest pause of a partition in ms: 600, limit 500',
    ],
    ['a late delivery', { limits: { restarts: 0, latestMs: 80 } }, 'the latest delivery in ms: 90, limit 80'],
  ])('fails after %s', (_, changes, failure) => {
    expect(judge(evidence(changes)).failures.join('\n')).toContain(failure)
  })

  it.each([
    ['once', ['10:00:00', '10:00:00'], 1],
    ['twice', ['10:00:00', '10:00:01'], 0],
  ])('judges the deliveries of a message that was sent again and received %s', (_, [one, two], ours) => {
    const deliveries = [
      delivered(first, 100),
      { ...delivered(second, 1_100), mark: one },
      { ...delivered(second, 1_200), mark: two },
    ]
    expect(judge(evidence({ posted: [sentAgain], deliveries })).duplicates).toEqual({ inProgress: 0, ours })
  })

  it('compares the marks of a message that was sent again only within a destination', () => {
    const destinations = ['crm', 'warehouse']
    const deliveries = destinations.flatMap(destination => [
      delivered(first, 100, 'pod-1', destination),
      { ...delivered(second, 1_100, 'pod-1', destination), mark: `10:00:00 at ${destination}` },
    ])
    const again = { ...delivered(second, 1_200), mark: '10:00:00 at crm' }
    expect(
      judge(evidence({ destinations, posted: [sentAgain], deliveries: [...deliveries, again] })).duplicates,
    ).toEqual({ inProgress: 0, ours: 1 })
  })

  it('attributes a delivery that a killed pod had in progress', () => {
    const deliveries = [delivered(first, 400), delivered(second, 1_100), delivered(first, 2_000, 'pod-2')]
    expect(judge(evidence({ deliveries, victims: ['pod-1'] }))).toMatchObject({
      duplicates: { inProgress: 1, ours: 0 },
      failures: [],
    })
  })
})
