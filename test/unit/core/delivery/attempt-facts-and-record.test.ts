import { describe, expect, it } from '@jest/globals'
import {
  type AttemptFacts,
  type AttemptFilter,
  attemptFacts,
  decodeAttempt,
  encodeAttempt,
  matchesAttemptFilter,
} from '../../../../src/core/delivery/attempt-facts-and-record.ts'
import type { Attempt, Decision } from '../../../../src/core/delivery/decide.ts'
import { initialState } from '../../../../src/core/delivery/delivery-state.ts'
import type { Outcome } from '../../../../src/core/delivery/outcomes-reasons-and-classification.ts'
import { durationMs, epochMs } from '../../../../src/core/time.ts'
import { trackMessage } from '../../../support/collector/normalised-track-message.ts'

const at = epochMs(Date.UTC(2026, 2, 1))
const record = { topic: 't', partition: 0, offset: 1, timestamp: at, key: null, value: null, headers: {} }
const carried = { ...initialState(record, 'crm', 'm-1', at, durationMs(1)), notBefore: epochMs(at + 10_500) }
const event = {
  ...{ sourceId: 'web', destinationId: undefined, receivedAt: at, canonical: true, origin: undefined },
  message: trackMessage('m-1', { userId: 'somebody' }),
}

const attemptOf = (...outcomes: Outcome[]): Attempt => ({
  ...{ number: 2, at, webhooksWithoutPermit: 0, isHeldUpByOthers: false },
  calls: outcomes.map((outcome, index) => ({
    webhook: {
      label: `w${index}`,
      url: 'https://x/secret',
      urlHash: '0',
      headers: { Authorization: 'secret' },
      traceHeaders: false,
    },
    ...{ outcome, retryAfter: undefined },
  })),
})
const facts = (decision: Decision, ...outcomes: Outcome[]): AttemptFacts =>
  attemptFacts(
    { carried, headers: {}, event, attempt: attemptOf(...outcomes), decision, elapsedMs: 12.4 },
    epochMs(at + 500),
  )

const common = { destination: 'crm', source: 'web', messageId: 'm-1', type: 'track', attempt: 2, elapsedMs: 12 }

describe('the fields of an attempt', () => {
  it.each<[string, AttemptFacts, object]>([
    ['delivered', facts({ kind: 'delivered' }, 'delivered'), { decision: 'delivered', outcomes: { w0: 'delivered' } }],
    [
      'retried: when the next attempt is due',
      facts({ kind: 'retried', tier: durationMs(10_000), carried }, 'timeout', 'http_4xx'),
      { decision: 'retried', nextAttemptInMs: 10_000, outcomes: { w0: 'timeout', w1: 'http_4xx' } },
    ],
    [
      'dead-lettered: the reason',
      facts({ kind: 'dead_lettered', reason: 'tls_untrusted', carried }, 'tls_untrusted'),
      { decision: 'dead_lettered', reason: 'tls_untrusted', outcomes: { w0: 'tls_untrusted' } },
    ],
    [
      'deferred',
      facts({ kind: 'deferred', tier: durationMs(10_000), cause: 'lane_full', carried }),
      { decision: 'deferred', outcomes: {} },
    ],
  ])('%s', (_, told, expected) => {
    expect(told).toEqual({ ...common, ...expected })
  })

  it('contain no user, URL, header or message content', () => {
    expect(encodeAttempt(facts({ kind: 'delivered' }, 'delivered'), at)).not.toMatch(/somebody|secret|Order|total/)
  })
})

describe('records of attempts', () => {
  const told = facts({ kind: 'dead_lettered', reason: 'http_4xx', carried }, 'http_4xx')

  it('are unchanged after writing and parsing', () => {
    expect(decodeAttempt(encodeAttempt(told, at))).toEqual({ ...told, at })
    expect(JSON.parse(encodeAttempt(told, at)).at).toBe('2026-03-01T00:00:00.000Z')
  })

  it('of a later version are parsed too', () => {
    const later = encodeAttempt({ ...told, more: 1 } as AttemptFacts, at)
    expect(decodeAttempt(later)).toEqual({ ...told, at, more: 1 })
  })

  it.each([
    ['no JSON', '{"at":'],
    ['another kind of JSON', '[1]'],
    ['null', 'null'],
    ['without a time', JSON.stringify(told)],
    ['without a decision', JSON.stringify({ at: new Date(at), ...told, decision: undefined })],
    ['of an unknown type', JSON.stringify({ at: new Date(at), ...told, type: 'other' })],
    ['with a number as text', JSON.stringify({ at: new Date(at), ...told, attempt: '1' })],
    ['without outcomes', JSON.stringify({ at: new Date(at), ...told, outcomes: [] })],
  ])('are undefined for anything else: %s', (_, text) => {
    expect(decodeAttempt(text)).toBeUndefined()
  })
})

describe('a filter', () => {
  const seen = { ...facts({ kind: 'retried', tier: durationMs(1), carried }, 'timeout', 'http_4xx'), at }
  it.each<[AttemptFilter, boolean]>([
    [{}, true],
    [
      { destination: 'crm', source: 'web', type: 'track', outcome: 'http_4xx', decision: 'retried', messageId: 'm-1' },
      true,
    ],
    [{ destination: undefined }, true],
    [{ destination: 'erp' }, false],
    [{ source: 'server' }, false],
    [{ type: 'identify' }, false],
    [{ outcome: 'delivered' }, false],
    [{ decision: 'delivered' }, false],
    [{ messageId: 'm-2' }, false],
    [{ destination: 'crm', messageId: 'm-2' }, false],
  ])('%j', (filter, expected) => {
    expect(matchesAttemptFilter(seen, filter)).toBe(expected)
  })
})
