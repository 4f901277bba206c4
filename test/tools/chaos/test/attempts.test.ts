import { describe, expect, it } from '@jest/globals'
import { type AttemptEvidence, judgeAttempts } from '../attempts.ts'
import type { Answer, Call } from '../ledger.ts'

const call = (id: string, at: number, answer: Answer = 503, endedAt = at + 10, destination = 'ill'): Call => ({
  ...{ id, destination, process: 'p1', at, answer, endedAt },
})
const standard: AttemptEvidence = {
  ...{ destination: 'ill', calls: [], schedule: [1_000, 5_000], patience: 1 },
  limits: { lateMs: 500, atOnce: 2 },
}

interface Case {
  readonly name: string
  readonly evidence: Partial<AttemptEvidence>
  readonly measured?: RegExp
  readonly failures?: readonly RegExp[]
}

const cases: readonly Case[] = [
  {
    name: 'each wait counts from the end of the attempt before',
    evidence: { calls: [call('a', 0), call('a', 1_010), call('a', 6_320, 200)] },
    measured: /^ill: 3 calls, 2 of them again, from 0\.00 to 0\.30 s after their time/,
  },
  {
    name: 'an attempt before its time',
    evidence: { calls: [call('a', 0), call('a', 950, 200)] },
    failures: [/^ill: attempts before their time: 1 \(attempt 2 of a by 60 ms\)$/],
  },
  {
    name: 'as much as two clocks differ is not early',
    evidence: { calls: [call('a', 0), call('a', 965, 200)] },
  },
  {
    name: 'a busy machine sees ends later',
    evidence: { patience: 2, calls: [call('a', 0), call('a', 950, 200)] },
  },
  {
    name: 'an attempt long after its time',
    evidence: { calls: [call('a', 0), call('a', 1_600, 200)] },
    failures: [/^ill: attempts long after their time: 1 \(attempt 2 of a by 590 ms\)$/],
  },
  {
    name: 'a hung call has ended when its caller gave up',
    evidence: { calls: [call('a', 0, 'hang', 5_000), call('a', 5_500, 200)] },
    failures: [/attempt 2 of a by 500 ms/],
  },
  {
    name: 'a Retry-After that is longer than the schedule counts',
    evidence: { calls: [call('a', 0, { status: 429, retryAfter: 8 }), call('a', 1_010, 200)] },
    failures: [/before their time: 1 \(attempt 2 of a by 7000 ms\)/],
  },
  {
    name: 'one that is shorter does not',
    evidence: { calls: [call('a', 0, { status: 429, retryAfter: 0 }), call('a', 1_010, 200)] },
  },
  {
    name: 'a call on a connection that was reset is made anew, once, in the same attempt',
    evidence: { calls: [call('a', 0, 'reset', 1), call('a', 6, 'reset', 7), call('a', 1_010, 200)] },
    measured: /^ill: 3 calls, 1 of them again/,
  },
  {
    name: 'not twice',
    evidence: { calls: [call('a', 0, 'reset', 1), call('a', 6, 'reset', 7), call('a', 12, 200)] },
    failures: [/before their time: 1 \(attempt 2 of a by 995 ms\)/],
  },
  {
    name: 'what comes after a success is no retry, whether it broke off or not',
    evidence: { calls: [call('a', 0, 200), call('a', 20), call('b', 40, 'half'), call('b', 60, 200)] },
    measured: /^ill: 4 calls, 0 of them again; at most/,
  },
  {
    name: 'calls of other destinations are their own affair',
    evidence: { calls: [call('a', 0), call('a', 20, 200, 30, 'crm')] },
    measured: /^ill: 1 calls, 0 of them again/,
  },
  {
    name: 'more calls at once than there may be',
    evidence: { calls: [call('a', 0), call('b', 5), call('c', 9)] },
    failures: [/^ill: 3 calls at once, limit 2$/],
  },
  {
    name: 'who ends makes room for who begins',
    evidence: { calls: [call('a', 0), call('b', 5), call('c', 10)] },
    measured: /at most 2 at once and 3 in a second$/,
  },
  {
    name: 'who has given up is seen to go after the next has come',
    evidence: { calls: [call('a', 0, 'hang', 5_000), call('b', 1, 'hang', 5_001), call('c', 4_960)] },
    measured: /at most 2 at once/,
  },
  {
    name: 'but not long after',
    evidence: { calls: [call('a', 0, 'hang', 5_000), call('b', 1, 'hang', 5_001), call('c', 4_940)] },
    failures: [/3 calls at once/],
  },
  {
    name: 'a call without an end goes on for ever',
    evidence: { calls: [{ ...call('a', 0), endedAt: undefined as never }, call('b', 9_000), call('c', 9_001)] },
    failures: [/3 calls at once/],
  },
  {
    name: 'a stampede: more calls within a second than the lane allows',
    evidence: {
      limits: { lateMs: 500, atOnce: 2, perSecond: 2 },
      calls: [call('a', 0), call('b', 500), call('c', 999), call('d', 2_000)],
    },
    failures: [/^ill: 3 calls within a second, limit 2$/],
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
