import { describe, expect, it } from '@jest/globals'
import type { Answer, Call } from '../message-ledger.ts'
import { type AttemptEvidence, judgeAttempts } from '../retry-times-and-rate-verdict.ts'

const call = (id: string, at: number, answer: Answer = 503, endedAt = at + 10, destination = 'ill'): Call => ({
  ...{ id, destination, process: 'p1', at, answer, endedAt },
})
const standard: AttemptEvidence = {
  ...{ destination: 'ill', calls: [], schedule: [1_000, 5_000], patience: 1 },
  limits: { maxDelayMs: 500, maxConcurrent: 2, minRetries: 0 },
}

interface Case {
  readonly name: string
  readonly evidence: Partial<AttemptEvidence>
  readonly measured?: RegExp
  readonly failures?: readonly RegExp[]
}

const cases: readonly Case[] = [
  {
    name: 'counts each wait from the end of the previous attempt',
    evidence: { calls: [call('a', 0), call('a', 1_010), call('a', 6_320, 200)] },
    measured: /^ill: 3 requests, 2 of them retries\. Retries began 0\.00 to 0\.30 s after their due time/,
  },
  {
    name: 'fails an early attempt',
    evidence: { calls: [call('a', 0), call('a', 950, 200)] },
    failures: [/^ill: attempts before their due time: 1 \(attempt 2 of message a by 60 ms\)$/],
  },
  { name: 'tolerates the difference between two clocks', evidence: { calls: [call('a', 0), call('a', 965, 200)] } },
  {
    name: 'tolerates late ends on a busy machine',
    evidence: { patience: 2, calls: [call('a', 0), call('a', 950, 200)] },
  },
  {
    name: 'fails a late attempt',
    evidence: { calls: [call('a', 0), call('a', 1_600, 200)] },
    failures: [/^ill: attempts too long after their due time: 1 \(attempt 2 of message a by 590 ms\)$/],
  },
  {
    name: 'ends a hung request at the timeout of its client',
    evidence: { calls: [call('a', 0, 'hang', 5_000), call('a', 5_500, 200)] },
    failures: [/attempt 2 of message a by 500 ms/],
  },
  {
    name: 'uses a Retry-After that is longer than the schedule',
    evidence: { calls: [call('a', 0, { status: 429, retryAfter: 8 }), call('a', 1_010, 200)] },
    failures: [/attempts before their due time: 1 \(attempt 2 of message a by 7000 ms\)/],
  },
  {
    name: 'ignores a Retry-After that is shorter than the schedule',
    evidence: { calls: [call('a', 0, { status: 429, retryAfter: 0 }), call('a', 1_010, 200)] },
  },
  {
    name: 'counts the repetition of a reset request to the same attempt',
    evidence: { calls: [call('a', 0, 'reset', 1), call('a', 6, 'reset', 7), call('a', 1_010, 200)] },
    measured: /^ill: 3 requests, 1 of them retries/,
  },
  {
    name: 'counts a second repetition as a new attempt',
    evidence: { calls: [call('a', 0, 'reset', 1), call('a', 6, 'reset', 7), call('a', 12, 200)] },
    failures: [/attempts before their due time: 1 \(attempt 2 of message a by 995 ms\)/],
  },
  {
    name: 'ignores requests after a success, partial responses included',
    evidence: { calls: [call('a', 0, 200), call('a', 20), call('b', 40, 'half'), call('b', 60, 200)] },
    measured: /^ill: 4 requests, 0 of them retries\. At most/,
  },
  {
    name: 'ignores requests of other destinations',
    evidence: { calls: [call('a', 0), call('a', 20, 200, 30, 'crm')] },
    measured: /^ill: 1 requests, 0 of them retries/,
  },
  {
    name: 'fails too many concurrent requests',
    evidence: { calls: [call('a', 0), call('b', 5), call('c', 9)] },
    failures: [/^ill: 3 concurrent requests, limit 2$/],
  },
  {
    name: 'does not count a request that ends as another one begins',
    evidence: { calls: [call('a', 0), call('b', 5), call('c', 10)] },
    measured: /At most 2 requests were in progress at a time, and at most 3 began in any one second$/,
  },
  {
    name: 'tolerates a timed-out request that overlaps with the next one',
    evidence: { calls: [call('a', 0, 'hang', 5_000), call('b', 1, 'hang', 5_001), call('c', 4_960)] },
    measured: /At most 2 requests were in progress/,
  },
  {
    name: 'fails a long overlap with a timed-out request',
    evidence: { calls: [call('a', 0, 'hang', 5_000), call('b', 1, 'hang', 5_001), call('c', 4_940)] },
    failures: [/3 concurrent requests/],
  },
  {
    name: 'counts a request without an end as in progress',
    evidence: { calls: [{ ...call('a', 0), endedAt: undefined as never }, call('b', 9_000), call('c', 9_001)] },
    failures: [/3 concurrent requests/],
  },
  {
    name: 'fails more requests within a second than the limit',
    evidence: {
      limits: { ...standard.limits, perSecond: 2 },
      calls: [call('a', 0), call('b', 500), call('c', 999), call('d', 2_000)],
    },
    failures: [/^ill: 3 requests within a second, limit 2$/],
  },
  { name: 'fails without requests', evidence: {}, failures: [/^ill: no requests$/] },
  {
    name: 'fails fewer retries than the minimum',
    evidence: { limits: { ...standard.limits, minRetries: 2 }, calls: [call('a', 0), call('a', 1_010, 200)] },
    failures: [/^ill: 1 retries, minimum 2$/],
  },
]

describe('the verdict on attempts of an endpoint that failed', () => {
  it.each(cases.map(each => ({ measured: /./, failures: [], ...each })))(
    '$name',
    ({ evidence, measured, failures }) => {
      const examined = judgeAttempts({ ...standard, ...evidence })
      expect(examined.measured).toEqual([expect.stringMatching(measured)])
      expect(examined.failures).toEqual(failures.map((each: RegExp) => expect.stringMatching(each)))
    },
  )
})
