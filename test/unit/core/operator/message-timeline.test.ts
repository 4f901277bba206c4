import { describe, expect, it } from '@jest/globals'
import type { RecordedAttempt } from '../../../../src/core/delivery/attempt-details-and-recording-rule.ts'
import { messageTimeline } from '../../../../src/core/operator/message-timeline.ts'
import type { TimelineInput } from '../../../../src/core/operator/message-timeline-input.ts'
import { epochMs } from '../../../../src/core/time.ts'
import {
  foundAttempt,
  foundDeadLetter,
  foundEvent,
  foundRetryRecord,
  noPieces,
  start,
} from '../../../support/operator/timeline-input.ts'

type Given = Partial<TimelineInput>
const failed = (more: Partial<RecordedAttempt> = {}): RecordedAttempt =>
  foundAttempt({ decision: 'retried', outcomes: { 0: 'http_5xx' }, statuses: { 0: 503 }, ...more })
const unread = { attempts: true, retryRecords: false, deadLetters: true }

const stateOf = (given: Given) => {
  const destination = messageTimeline({ ...noPieces, ...given }).destinations.find(({ id }) => id !== '-')
  const { attempts: _, id, ...state } = destination ?? { attempts: [], id: undefined }
  return [id, state]
}

describe('the state of a message at a destination', () => {
  it.each<[string, Given, object]>([
    [
      'processed without a failure: delivered, inferred',
      { events: [foundEvent()] },
      { state: 'delivered', inferred: true },
    ],
    ['not read by the dispatchers yet: waiting', { events: [foundEvent({ progress: [] })] }, { state: 'waiting' }],
    [
      'done for this destination, not for all: delivered, inferred',
      { events: [foundEvent({ progress: ['crm'] })] },
      { state: 'delivered', inferred: true },
    ],
    [
      'filtered by the configuration',
      { events: [foundEvent({ destinations: [], drops: new Map([['crm', 'filtered']]) })] },
      { state: 'dropped', reason: 'filtered', inferred: true },
    ],
    [
      'dead-lettered before its destinations were known, and the source was added later',
      {
        events: [foundEvent()],
        deadLetters: [foundDeadLetter({ destination: undefined, reason: 'unknown_source' })],
      },
      { state: 'dead_lettered', reason: 'unknown_source', deadLetterKey: 'key-0' },
    ],
    [
      'waits until its destinations are known, and the source was added',
      { events: [foundEvent()], retryRecords: [foundRetryRecord({ destination: '-', reason: 'unconfigured' })] },
      {
        ...{ state: 'waiting', reason: 'unconfigured' },
        waiting: { tier: '10s', dueAt: '2026-03-01T00:00:10.000Z' },
      },
    ],
    [
      'sent again with the same id after an event that was dead-lettered: delivered, inferred',
      {
        events: [foundEvent({ at: start + 5_000, offset: 9 }), foundEvent()],
        deadLetters: [foundDeadLetter({ destination: undefined, reason: 'unknown_source' })],
      },
      { state: 'delivered', inferred: true },
    ],
    [
      'offsets unknown',
      { events: [foundEvent({ progress: undefined })] },
      { state: 'unknown', reason: 'offsets_unknown' },
    ],
    [
      'without attempt records',
      { events: [foundEvent()], recorded: 'off' },
      { state: 'unknown', reason: 'attempts_not_recorded' },
    ],
    [
      'with all attempts, a success has a record',
      { events: [foundEvent()], recorded: 'all' },
      { state: 'unknown', reason: 'record_missing' },
    ],
    [
      'older than the attempt records',
      { events: [foundEvent({ isOlderThanAttempts: true })] },
      { state: 'unknown', reason: 'attempts_removed' },
    ],
    [
      'retry topics not read completely',
      { events: [foundEvent()], isComplete: unread },
      { state: 'unknown', reason: 'search_incomplete' },
    ],
    [
      'waits for a retry',
      { attempts: [failed()], retryRecords: [foundRetryRecord({ attempt: 1, reason: 'http_5xx' })] },
      { state: 'waiting', reason: 'http_5xx', waiting: { tier: '10s', dueAt: '2026-03-01T00:00:10.000Z' } },
    ],
    [
      'delivered after a retry, whose retry record is not committed',
      {
        attempts: [foundAttempt({ at: start + 10_000, attempt: 2 }), failed()],
        retryRecords: [foundRetryRecord({ attempt: 1 })],
      },
      { state: 'delivered' },
    ],
    ['a retry that was not found', { attempts: [failed()] }, { state: 'unknown', reason: 'record_missing' }],
    [
      'a retry, when the retry topics were not read completely',
      { attempts: [failed()], isComplete: unread },
      { state: 'unknown', reason: 'search_incomplete' },
    ],
    [
      'dead-lettered',
      { attempts: [failed({ decision: 'dead_lettered' })], deadLetters: [foundDeadLetter()] },
      { state: 'dead_lettered', reason: 'retries_exhausted', deadLetterKey: 'key-0' },
    ],
    [
      'dead-lettered, when the dead letters were not read completely: from the record',
      {
        attempts: [failed({ decision: 'dead_lettered', reason: 'http_4xx' })],
        isComplete: { ...unread, retryRecords: true, deadLetters: false },
      },
      {
        state: 'dead_lettered',
        reason: 'http_4xx',
        deadLetterKey: `crm/hookline.events/0/7/${start}/0`,
      },
    ],
    [
      'dead-lettered without an attempt',
      {
        attempts: [failed({ decision: 'dead_lettered', reason: 'retry_window_over', kind: 'result', outcomes: {} })],
        deadLetters: [foundDeadLetter({ reason: 'retry_window_over' })],
      },
      { state: 'dead_lettered', reason: 'retry_window_over', deadLetterKey: 'key-0' },
    ],
    [
      'replayed, and waiting again',
      {
        attempts: [failed({ decision: 'dead_lettered' })],
        deadLetters: [foundDeadLetter()],
        retryRecords: [foundRetryRecord({ round: 1 })],
      },
      { state: 'waiting', waiting: { tier: '10s', dueAt: '2026-03-01T00:00:10.000Z' } },
    ],
    [
      'replayed and delivered',
      { attempts: [failed({ decision: 'dead_lettered' }), foundAttempt({ at: start + 60_000, round: 1 })] },
      { state: 'delivered' },
    ],
    [
      'resent, and waiting: the dead letter stays',
      {
        attempts: [failed({ decision: 'dead_lettered' })],
        deadLetters: [foundDeadLetter({ round: 1 })],
        retryRecords: [foundRetryRecord({ round: 1, startedAt: epochMs(start + 60_000) })],
      },
      { state: 'waiting', waiting: { tier: '10s', dueAt: '2026-03-01T00:00:10.000Z' } },
    ],
    [
      'resent and delivered: the dead letter stays',
      {
        attempts: [failed({ decision: 'dead_lettered' }), foundAttempt({ at: start + 60_000, round: 1 })],
        deadLetters: [foundDeadLetter({ round: 1 })],
      },
      { state: 'delivered' },
    ],
    [
      'resent a second time, and waiting',
      {
        attempts: [foundAttempt({ at: start + 60_000, round: 1 })],
        retryRecords: [foundRetryRecord({ round: 1, startedAt: epochMs(start + 90_000) })],
      },
      { state: 'waiting', waiting: { tier: '10s', dueAt: '2026-03-01T00:00:10.000Z' } },
    ],
    [
      'dead-lettered again after a replay',
      { deadLetters: [foundDeadLetter(), foundDeadLetter({ round: 1, key: 'key-1' })] },
      { state: 'dead_lettered', reason: 'retries_exhausted', deadLetterKey: 'key-1' },
    ],
    [
      'dropped after a failure',
      {
        attempts: [
          failed(),
          failed({ at: epochMs(start + 9), decision: 'dropped', reason: 'disabled', kind: 'result' }),
        ],
      },
      { state: 'dropped', reason: 'disabled' },
    ],
  ])('%s', (_, given, expected) => {
    expect(stateOf(given)).toEqual(['crm', expected])
  })
})

describe('a timeline', () => {
  it('has an entry for each request, oldest first, once even when its record was written twice', () => {
    const two = failed({
      outcomes: { a: 'http_5xx', b: 'timeout' },
      statuses: { a: 502 },
      dueAt: '2026-03-01T00:00:10.000Z',
    })
    const second = foundAttempt({ at: start + 10_000, attempt: 2, outcomes: { a: 'delivered' }, statuses: { a: 200 } })
    const [destination] = messageTimeline({ ...noPieces, attempts: [second, two, two] }).destinations
    const common = { at: '2026-03-01T00:00:00.000Z', number: 1, durationMs: 12, decision: 'retried', dueAt: two.dueAt }
    expect(destination?.attempts).toEqual([
      { ...common, webhook: 'a', outcome: 'http_5xx', status: 502 },
      { ...common, webhook: 'b', outcome: 'timeout' },
      {
        ...{ at: '2026-03-01T00:00:10.000Z', number: 2, durationMs: 12, decision: 'delivered' },
        ...{ webhook: 'a', outcome: 'delivered', status: 200 },
      },
    ])
  })

  it('shows both events of an id that is used twice, and the newest as the event', () => {
    const later = foundEvent({ at: start + 5_000, offset: 9, sourceId: 'server' })
    const { event, records } = messageTimeline({ ...noPieces, events: [later, foundEvent()] })
    expect(event).toMatchObject({ sourceId: 'server', position: { offset: 9 } })
    expect(records).toMatchObject([
      { offset: 7, kind: 'event', at: '2026-03-01T00:00:00.000Z' },
      { offset: 9, kind: 'event' },
    ])
  })

  it('has each destination that any record names', () => {
    const { destinations, records } = messageTimeline({
      ...noPieces,
      attempts: [failed({ destination: 'a' })],
      retryRecords: [foundRetryRecord({ destination: 'b' })],
      deadLetters: [foundDeadLetter({ destination: 'c' }), foundDeadLetter({ destination: undefined })],
      events: [foundEvent({ destinations: ['d'] })],
    })
    expect(destinations.map(({ id, state }) => [id, state])).toEqual([
      ['a', 'unknown'],
      ['b', 'waiting'],
      ['c', 'dead_lettered'],
      ['d', 'dead_lettered'],
    ])
    expect(records.map(({ kind }) => kind).sort()).toEqual(['dead_letter', 'dead_letter', 'event', 'waiting'])
  })

  it('says what was not read', () => {
    expect(messageTimeline({ ...noPieces, isPartial: true, isEventRemoved: true })).toEqual({
      ...{ id: 'm-1', partial: true, eventRemoved: true, searchedSince: '2026-03-01T00:00:00.000Z' },
      ...{ records: [], destinations: [] },
    })
  })
})

it('shows the dead letter of an event whose destinations were never known', () => {
  const deadLetters = [foundDeadLetter({ destination: undefined, reason: 'unknown_source' })]
  const found = { ...noPieces, events: [foundEvent({ destinations: [] })], deadLetters }
  expect(messageTimeline(found).destinations).toEqual([
    { id: '-', state: 'dead_lettered', reason: 'unknown_source', deadLetterKey: 'key-0', attempts: [] },
  ])
})

it('shows the dead letter without a destination beside a destination that has a record', () => {
  const deadLetters = [foundDeadLetter({ destination: undefined, reason: 'unknown_source' })]
  const found = { ...noPieces, events: [foundEvent({ destinations: [] })], attempts: [foundAttempt()], deadLetters }
  expect(messageTimeline(found).destinations.map(({ id }) => id)).toContain('-')
})
