import { describe, expect, it } from '@jest/globals'
import {
  attemptDetails,
  decodeRecordedAttempt,
  isRecorded,
  isResultRecorded,
} from '../../../../src/core/delivery/attempt-details-and-recording-rule.ts'
import { encodeAttempt } from '../../../../src/core/delivery/attempt-facts-and-record.ts'
import type { Attempt, Decision } from '../../../../src/core/delivery/decide.ts'
import { type DeliveryState, initialState } from '../../../../src/core/delivery/delivery-state.ts'
import type { RecordedAttempts } from '../../../../src/core/settings/schema-of-attempts-topic.ts'
import { durationMs, epochMs } from '../../../../src/core/time.ts'
import { webhookOf } from '../../../support/builders.ts'
import { foundAttempt } from '../../../support/operator/timeline-input.ts'

const at = epochMs(Date.UTC(2026, 2, 1))
const origin = { topic: 'hookline.events', partition: 2, offset: 7, timestamp: at }
const fresh = initialState(origin, 'crm', 'm-1', at, durationMs(60_000))
const tier = durationMs(10_000)
const attemptOf = (outcome?: 'delivered' | 'http_5xx', status?: number): Attempt => ({
  ...{ number: 1, at, webhooksWithoutPermit: outcome === undefined ? 1 : 0, isHeldUpByOthers: false },
  calls: outcome === undefined ? [] : [{ webhook: webhookOf(0), outcome, retryAfter: undefined, status }],
})
const delivered: Decision = { kind: 'delivered' }
const retried: Decision = { kind: 'retried', tier, carried: { ...fresh, notBefore: epochMs(at + 12_000) } }
const deferred: Decision = { kind: 'deferred', tier, cause: 'lane_full', carried: fresh }
const deadLettered: Decision = { kind: 'dead_lettered', reason: 'retry_window_over', carried: fresh }
const dropped: Decision = { kind: 'dropped', reason: 'disabled' }

describe('an attempt', () => {
  const carriedAfter = (more: Partial<DeliveryState>) => ({ ...fresh, ...more })
  it.each<[string, RecordedAttempts, DeliveryState, Attempt, Decision, boolean]>([
    ['all: every success', 'all', fresh, attemptOf('delivered'), delivered, true],
    ['off: nothing', 'off', fresh, attemptOf('http_5xx'), retried, false],
    ['failures: not a success at the first attempt', 'failures', fresh, attemptOf('delivered'), delivered, false],
    ['failures: a failure', 'failures', fresh, attemptOf('http_5xx'), retried, true],
    ['failures: the last failure', 'failures', fresh, attemptOf('http_5xx'), deadLettered, true],
    [
      'failures: a success after one',
      'failures',
      carriedAfter({ attempt: 1 }),
      attemptOf('delivered'),
      delivered,
      true,
    ],
    [
      'failures: a success after a replay',
      'failures',
      carriedAfter({ round: 1 }),
      attemptOf('delivered'),
      delivered,
      true,
    ],
    ['failures: not an attempt without a request', 'failures', fresh, attemptOf(), deferred, false],
  ])('is recorded or not: %s', (_, mode, carried, attempt, decision, expected) => {
    expect(isRecorded(mode, { carried, attempt, decision })).toBe(expected)
  })

  it.each<[string, RecordedAttempts, DeliveryState, Decision, boolean]>([
    ['a dead letter', 'failures', fresh, deadLettered, true],
    ['a drop after a failure', 'failures', carriedAfter({ attempt: 2 }), dropped, true],
    ['not a drop before the first attempt', 'all', fresh, dropped, false],
    ['a drop by a deletion', 'failures', fresh, { kind: 'dropped', reason: 'user_deleted' }, true],
    ['a drop of a suppressed user', 'failures', fresh, { kind: 'dropped', reason: 'suppressed' }, true],
    ['not a deferral', 'all', carriedAfter({ attempt: 2 }), deferred, false],
    ['nothing when it is off', 'off', fresh, deadLettered, false],
  ])('that was not made has a record of the result: %s', (_, mode, carried, decision, expected) => {
    expect(isResultRecorded(mode, { carried, decision })).toBe(expected)
  })

  it.each<[string, Decision, object]>([
    ['retried: not before its time', retried, { dueAt: '2026-03-01T00:00:12.000Z', tierMs: 10_000 }],
    ['deferred: after the wait of the topic', deferred, { dueAt: '2026-03-01T00:00:11.000Z', tierMs: 10_000 }],
    ['delivered: never', delivered, { dueAt: undefined, tierMs: undefined }],
  ])('says when the next one is due: %s', (_, decision, expected) => {
    const details = attemptDetails(
      { carried: fresh, attempt: attemptOf('http_5xx', 503), decision },
      epochMs(at + 1_000),
    )
    expect(details).toEqual({ statuses: { 0: 503 }, origin, round: 0, ...expected })
  })
})

describe('a record of an attempt', () => {
  const { at: began, ...facts } = foundAttempt()
  const decoded = (more: object) => decodeRecordedAttempt(encodeAttempt({ ...facts, ...more } as never, began))

  it('is unchanged after writing and parsing', () => {
    const details = { statuses: { 0: 200 }, dueAt: '2026-03-01T00:00:12.000Z', tierMs: 10_000, origin, round: 2 }
    expect(decoded(details)).toEqual({ ...facts, ...details, at: began })
  })

  it.each([
    [{ origin: { topic: 't', partition: -1, offset: 0, timestamp: 0 } }, 'origin'],
    [{ origin: 'x' }, 'origin'],
    [{ statuses: { 0: 'x' } }, 'statuses'],
    [{ dueAt: 'soon' }, 'dueAt'],
    [{ round: 1.5 }, 'round'],
    [{ tierMs: 'x' }, 'tierMs'],
  ])('keeps no malformed detail: %j', (more, name) => {
    expect(decoded(more)).not.toHaveProperty(name)
  })

  it('is no attempt when it is not in this format', () => {
    expect(['', '{}', 'null', '[]'].map(decodeRecordedAttempt)).toEqual([undefined, undefined, undefined, undefined])
  })
})
