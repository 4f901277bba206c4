import { describe, expect, it } from '@jest/globals'
import type { Replay, Resend } from '../../../../packages/console/src/api/job-types.ts'
import type { DeadLetter } from '../../../../packages/console/src/api/response-types.ts'
import { audienceRows } from '../../../../packages/console/src/pages/audiences/audience-rows.ts'
import { bodyText } from '../../../../packages/console/src/pages/dead-letters/body-text.ts'
import { filtersOf, filterText } from '../../../../packages/console/src/pages/dead-letters/dead-letter-filters.ts'
import { emptyTitle, partialText } from '../../../../packages/console/src/pages/dead-letters/dead-letter-list-texts.ts'
import { firstDeliveryOf } from '../../../../packages/console/src/pages/destination/first-delivery.ts'
import { hourlyResults } from '../../../../packages/console/src/pages/destination/hourly-results.ts'
import { noFailuresText } from '../../../../packages/console/src/pages/destination/no-failures-text.ts'
import { sourcesOf, urlsOf } from '../../../../packages/console/src/pages/destinations/document-sources-and-urls.ts'
import {
  jobRateText,
  missingText,
  newestFirst,
  progressText,
  readProgressOf,
  titleOf,
} from '../../../../packages/console/src/pages/jobs/job-texts-and-order.ts'
import { messageAddress, spanBefore, spanOf } from '../../../../packages/console/src/pages/messages/search-time-span.ts'
import { reasonText } from '../../../../packages/console/src/pages/messages/state-reason-text.ts'
import { failingDestinations } from '../../../../packages/console/src/pages/overview/failing-destinations.ts'
import { noRates, timesShown, withRates } from '../../../../packages/console/src/pages/overview/rate-history.ts'
import { resendRequest } from '../../../../packages/console/src/pages/resend/resend-request.ts'
import { defaultResendRate } from '../../../../src/core/jobs/max-and-default-job-rates.ts'

describe('the failing destinations', () => {
  const letter = (destination: string, at: string, reason: string): DeadLetter => ({ key: at, at, destination, reason })

  it('begin with open circuit breakers, then those with the largest number of dead letters', () => {
    const letters = [
      letter('a', '2026-01-01T00:00:03Z', 'http_4xx'),
      letter('b', '2026-01-01T00:00:02Z', 'new'),
      letter('b', '2026-01-01T00:00:01Z', 'old'),
    ]
    expect(failingDestinations({ openBreakers: ['z'] }, letters)).toEqual([
      { id: 'z', hasOpenBreaker: true, deadLetters: 0 },
      { id: 'b', hasOpenBreaker: false, deadLetters: 2, reason: 'new', lastAt: '2026-01-01T00:00:02Z' },
      { id: 'a', hasOpenBreaker: false, deadLetters: 1, reason: 'http_4xx', lastAt: '2026-01-01T00:00:03Z' },
    ])
  })

  it('of an older operator service are those with dead letters', () => {
    expect(failingDestinations(undefined, [])).toEqual([])
  })
})

it('the results by hour have every hour of the ledger, with zeros for an hour without a row', () => {
  const none = { delivered: 0, deadLettered: 0, dropped: 0, waiting: 0 }
  const some = { hour: '2026-01-01T01:00:00.000Z', delivered: 3, deadLettered: 1, dropped: 2, waiting: 4 }
  const rows = [{ ...some, destination: 'crm' }]
  expect(hourlyResults({ since: '2026-01-01T00:00:00.000Z', until: '2026-01-01T03:00:00.000Z', rows })).toEqual([
    { hour: '2026-01-01T00:00:00.000Z', ...none },
    some,
    { hour: '2026-01-01T02:00:00.000Z', ...none },
  ])
})

describe('the failed attempts of a destination', () => {
  it.each<[string, Parameters<typeof noFailuresText>[0], RegExp | undefined]>([
    ['are listed', { lastFailures: [{ at: '2026-01-01T00:00:00Z', outcome: 'timeout' }] }, undefined],
    ['are none', { lastFailures: [] }, /^Hookline found no records/],
    ['are none of those that were read', { lastFailures: [], partial: true }, /^Hookline found no records/],
    ['are not recorded', {}, /^The recording of failed attempts is off/],
    ['were not read', { partial: true }, /^The list of failed attempts is not available/],
  ])('%s', (_name, status, title) => {
    const text = noFailuresText(status)
    if (title === undefined) expect(text).toBeUndefined()
    else expect(text?.title).toMatch(title)
  })

  it('name every step that records them', () => {
    expect(noFailuresText({})?.reason).toMatch(/"failures", run `hookline topics apply`, and restart Hookline\.$/)
  })
})

describe('the history of rates', () => {
  const rates = { admittedPerSecond: 3, deliveredPerSecond: 2, failedPerSecond: 1 }
  const at = (second: number): string => new Date(second * 1000).toISOString()

  it('ignores a status without rates and a repeated one', () => {
    const once = withRates(noRates, { at: at(5), rates })
    expect(once).toEqual({ times: [5], admitted: [3], delivered: [2], failed: [1] })
    expect(withRates(once, { at: at(5), rates })).toBe(once)
    expect(withRates(once, { at: at(6) })).toBe(once)
  })

  it('keeps half an hour', () => {
    let history = noRates
    for (let second = 1; second <= 400; second++) history = withRates(history, { at: at(second), rates })
    expect([history.times.length, history.failed.length, history.times[0]]).toEqual([360, 360, 41])
  })
})

describe('a destination', () => {
  it('lists its sources and the URLs of its webhooks', () => {
    const document = { sources: ['web', 3], webhooks: [{ url: 'https://a.example/***' }, {}, null] }
    expect([sourcesOf({ document }), urlsOf({ document })]).toEqual([['web'], ['https://a.example']])
    expect([sourcesOf({ document: {} }), urlsOf({ document: {} })]).toEqual([[], []])
  })

  it.each([
    ['unknown', {}],
    ['waiting', { delivered: 0, failed: 0 }],
    ['failing', { delivered: 0, failed: 2 }],
    ['delivered', { delivered: 1, failed: 2 }],
  ])('after its creation is %s', (kind, hour) => {
    const lastHour = { delivered: 0, failed: 0, deadLettered: 0, dropped: 0, ...hour }
    const results = Object.keys(hour).length === 0 ? {} : { results: { lastHour, lastDay: lastHour } }
    expect(firstDeliveryOf(results).kind).toBe(kind)
  })
})

describe('the filters of dead letters', () => {
  it('are in the address', () => {
    const filters = filtersOf('destination=crm&reason=&after=5&since=2026-01-01T00:00:00Z')
    expect(filters).toEqual({ destination: 'crm', since: '2026-01-01T00:00:00Z' })
    expect(filterText(filters)).toBe('destination crm, since 2026-01-01T00:00:00Z')
    expect(filterText({})).toBe('all dead letters')
  })

  it('a list from a search that has not ended does not say that there are no dead letters', () => {
    expect(emptyTitle(true, true)).toBe('No dead letter found so far.')
    expect(emptyTitle(true, false)).toBe('No dead letter matches the filters.')
    expect(emptyTitle(false, false)).toBe('There are no dead letters.')
    expect(partialText(true)).toContain('Choose "Next page"')
    expect(partialText(false)).toContain('replayed')
  })

  it.each([
    ['{"a":1}', '{\n  "a": 1\n}'],
    ['not JSON', 'not JSON'],
    [{ a: 1 }, '{\n  "a": 1\n}'],
  ])('the body %j', (body, text) => expect(bodyText(body)).toBe(text))
})

const common = { id: 'j', state: 'running', createdAt: '2026-01-01T00:00:00Z' } as const
const replay: Replay = { ...common, kind: 'replay', filters: {} }
const resend: Resend = {
  ...{ ...common, kind: 'resend', destination: 'crm', since: '2026-01-01T00:00:00Z', until: '2026-01-01T01:00:00Z' },
  createdAt: '2026-01-02T00:00:00Z',
}

describe('a job', () => {
  it.each([
    ['not started yet', replay],
    [
      '9 of 10 dead letters read; of those that match the filters: 8 replayed, 1 not replayed',
      progressOf({ seen: 9, total: 10, replayed: 8, refused: 1 }),
    ],
    [
      '12 of 12 events read, 8 resent, 3 skipped (for example events for other destinations, events of other types or users, and events of deleted users), 1 not resent because it is too large for the retry topic',
      { ...resend, progress: { read: 12, total: 10, sent: 8, skipped: 3, tooLarge: 1 } },
    ],
  ] as const)('has the progress %s', (text, job) => expect(progressText(job)).toBe(text))

  it('that only counts says what can be replayed', () => {
    const job = { ...progressOf({ seen: 1, replayed: 0, replayable: 1, refused: 0 }), dryRun: true } as const
    expect(progressText(job)).toBe(
      '1 dead letter read; of those that match the filters: 1 can be replayed, 0 cannot be replayed',
    )
    expect(readProgressOf(job)).toEqual({ done: 1 })
  })

  it('that only counts, and that a process of an earlier version ran, says what can be replayed', () => {
    const counts = [{ count: 3 }, { count: 2, refusal: 'disabled' }]
    const job = { ...progressOf({ seen: 9, replayed: 0, refused: 0 }), dryRun: true, counts } as const
    expect(progressText(job)).toBe(
      '9 dead letters read; of those that match the filters: 3 can be replayed, 2 cannot be replayed',
    )
  })

  it('that only counts the events of a resend says that nothing was resent', () => {
    const job = { ...resend, dryRun: true, progress: { read: 12, total: 12, sent: 8, skipped: 4 } } as const
    expect(titleOf(job)).toBe('Dry run of a resend')
    expect(progressText(job)).toBe(
      '12 of 12 events read, 8 would be resent, 4 would be skipped (for example events for other destinations, events of other types or users, and events of deleted users)',
    )
  })

  it('is in a list of both kinds, newest first', () => {
    expect(newestFirst([replay], [resend])).toEqual([resend, replay])
  })

  it('has the default rate of resends, or no limit', () => {
    expect(jobRateText({ kind: 'resend' })).toBe(`at most ${defaultResendRate} messages per second`)
    expect([jobRateText(replay), jobRateText({ ...replay, rate: 20 })]).toEqual([
      'no limit',
      'at most 20 messages per second',
    ])
  })

  it('says what retention has removed', () => {
    expect(missingText(undefined)).toBe('none')
    expect(missingText([{ partition: 1, firstOffset: 20 }])).toBe('some events of partition 1 before offset 20')
  })
})

function progressOf(progress: NonNullable<Replay['progress']>): Replay {
  return { ...replay, progress }
}

describe('a delivery of a message', () => {
  it.each([
    [{ state: 'delivered' }, undefined],
    [{ state: 'waiting', reason: 'paused' }, 'Reason: paused.'],
    [
      { state: 'delivered', inferred: true },
      'No record in Kafka confirms this state. Hookline assumes it, because Hookline processed the event and recorded no failure.',
    ],
    [
      { state: 'dropped', reason: 'filtered', inferred: true },
      'Reason: filtered. No record in Kafka confirms this state. Hookline assumes it, because the current configuration drops the event.',
    ],
    [
      { state: 'unknown', reason: 'offsets_unknown' },
      'It is unknown whether Hookline has processed the event, because Kafka did not report the progress: reload the page.',
    ],
    [{ state: 'unknown', reason: 'of_a_later_version' }, 'Reason: of_a_later_version.'],
  ] as const)('%j', (delivery, text) => expect(reasonText({ id: 'crm', ...delivery })).toBe(text))

  it('is searched in the five hours before its attempt', () => {
    const span = spanBefore('2026-01-01T12:00:00.000Z')
    expect(span).toEqual({ since: '2026-01-01T07:00:00.000Z', until: '2026-01-01T12:01:00.000Z' })
    const address = messageAddress('a/b', span)
    expect(address).toBe('/messages/a%2Fb?since=2026-01-01T07%3A00%3A00.000Z&until=2026-01-01T12%3A01%3A00.000Z')
    expect(spanOf(address.split('?')[1] ?? '')).toEqual(span)
    expect(spanOf('')).toEqual({})
  })
})

describe('the request of a resend', () => {
  const form = {
    ...{ destination: ' crm ', since: '2026-01-01T00:00', until: '2026-01-01T01:00' },
    ...{ types: [], userIds: '', rate: '' },
  }

  it('has only fields with a value', () => {
    const { since, until } = form
    const times = { since: new Date(since).toISOString(), until: new Date(until).toISOString() }
    expect(resendRequest(form)).toEqual({ kind: 'request', body: { destination: 'crm', ...times } })
    expect(resendRequest({ ...form, types: ['track'], userIds: 'u-1\n u-2 \n', rate: '50' })).toEqual({
      kind: 'request',
      body: { destination: 'crm', ...times, types: ['track'], userIds: ['u-1', 'u-2'], rate: 50 },
    })
  })

  it.each([
    ['Choose a destination.', { destination: ' ' }],
    ['Enter a time in "From" and in "To".', { until: '' }],
    ['The time in "From" must be before the time in "To".', { until: form.since }],
  ])('%s', (message, changed) => {
    expect(resendRequest({ ...form, ...changed })).toEqual({ kind: 'wrong', message })
  })
})

describe('the chart of rates', () => {
  it.each([
    [[], [0, 60]],
    [[100], [100, 160]],
    [
      [100, 105, 200],
      [100, 200],
    ],
  ])('of the times %j spans %j', (times, span) => expect(timesShown(times)).toEqual(span))
})

describe('the rows of audiences', () => {
  it('are one for each destination, and one for an audience without any', () => {
    const rows = audienceRows([{ name: 'A', destinations: [{ id: 'x' }, { id: 'y' }] }, { name: 'B' }])
    expect(rows.map(({ audience, destination }) => [audience.name, destination?.id])).toEqual([
      ['A', 'x'],
      ['A', 'y'],
      ['B', undefined],
    ])
  })
})
