import { describe, expect, it } from '@jest/globals'
import { inProgressOfOne } from '../duplicate-causes.ts'
import { type JobsEvidence, judgeJobs } from '../jobs-verdict.ts'
import type { Delivery } from '../message-ledger.ts'
import { a, b, by, kill } from './evidence.ts'

const ended = (call: Delivery): Delivery => ({ ...call, endedAt: call.at })
const refused = { ...by('p1', a, 1_100, 'strict'), answer: 400 }
const calls = [
  ...[refused, by('p1', b, 1_100, 'strict'), by('p2', a, 20_000, 'strict')],
  ...[ended(by('p1', a, 1_100, 'resent')), by('p1', b, 1_100, 'resent'), by('p2', a, 20_000, 'resent')],
]
const records = new Map([
  ['strict a', { events: 1, copies: 1, due: 1 }],
  ['strict b', { events: 1, copies: 0, due: 0 }],
  ['resent a', { events: 1, copies: 1, due: 1 }],
  ['resent b', { events: 1, copies: 0, due: 0 }],
])
const placesAt = (...offsets: readonly number[]) =>
  new Map(
    [a, b].flatMap(({ id }, index) => {
      const offset = offsets[index]
      return offset === undefined ? [] : [[id, { partition: 0, offset, key: 'u', copies: 1 }]]
    }),
  )
const balanced = { admitted: 4, replayed: 2, repeated: 0, delivered: 5, waiting: 0, difference: 0 }
const done = (kind: 'replay' | 'resend') => ({ id: '1', kind, state: 'done' })
const nothingWrong: JobsEvidence = {
  limits: { recoveryMs: 10_000, latestMs: 100 },
  patience: 1,
  destinations: ['strict', 'resent'],
  acknowledged: [a, b],
  ...{ calls, records },
  injected: [],
  kills: { operators: 0, dispatchers: 0 },
  moved: new Map(),
  order: { destinations: ['resent'], places: placesAt(1, 2), retried: new Map() },
  jobs: [done('replay'), done('resend')],
  deadLettersLeft: 0,
  ledgers: [{ ...balanced, admitted: 2, waiting: 1 }, balanced],
  admitted: 4,
  finalLedger: balanced,
  probes: { restarts: [], longestUnreadyMs: 0, unready: [] },
  problems: [],
}
/** The destination `resent` gets this number of copies of `a`. */
const resent = (copies: number): Partial<JobsEvidence> => ({
  calls: [...calls, ...Array.from({ length: copies - 1 }, () => by('p2', a, 20_000, 'resent'))],
  records: new Map([...records, ['resent a', { events: 1, copies, due: 1 }]]),
  finalLedger: { ...balanced, replayed: copies + 1, delivered: copies + 4 },
})
/** The destination `resent` gets a copy of `b`, and a duplicate of it after a kill. */
const resentB: Partial<JobsEvidence> = {
  calls: [...calls, by('p1', b, 4_900, 'resent'), by('p2', b, 9_000, 'resent')],
  records: new Map([...records, ['resent b', { events: 1, copies: 1, due: 1 }]]),
  finalLedger: { ...balanced, replayed: 3, delivered: 6 },
  injected: [kill],
}

const incomplete = { ...balanced, admitted: 1, difference: undefined, partial: true } as const
/** Reported if the ledger does not count a request that an endpoint accepted. */
const notCounted = /^the ledger counts \d+ delivered, and the endpoints accepted \d+ requests \(0 killed dispatchers\)$/

interface Case {
  readonly name: string
  readonly evidence: Partial<JobsEvidence>
  readonly figures?: Record<string, unknown>
  readonly failures?: readonly RegExp[]
}

const cases: readonly Case[] = [
  {
    name: 'holds when each dead letter was replayed and each event resent once',
    evidence: {},
    figures: {
      ...{ sent: 4, delivered: 4, lost: 0, duplicates: 0, deadLettered: 0, recoveryMs: 0 },
      ...{ orderedPairs: 1, reversed: 0, latestMs: 100 },
    },
  },
  {
    name: 'fails a delivery that its endpoint has not accepted',
    evidence: { calls: calls.with(2, { ...refused, at: 20_000 }), finalLedger: { ...balanced, delivered: 4 } },
    figures: { delivered: 3, lost: 1 },
    failures: [/^lost: 1 \(strict a\)$/],
  },
  {
    name: 'fails an event that was not resent',
    evidence: { calls: calls.slice(0, -1), finalLedger: { ...balanced, delivered: 4 } },
    failures: [/^not replayed or resent: 1 \(resent a 1 events, 1 copies, 1 due\)$/],
  },
  {
    name: 'fails a duplicate without a kill',
    evidence: { calls: [...calls, by('p2', a, 20_100, 'resent')] },
    figures: { duplicates: 1, duplicated: { bySender: 0, inProgress: 0, ours: 1 } },
    failures: [/^duplicated without a known cause: 1 \(resent a by p2, 100 ms later by p2\)$/, notCounted],
  },
  {
    name: 'attributes a duplicate to the dispatcher that was killed',
    evidence: {
      ...resentB,
      kills: { operators: 0, dispatchers: 1 },
    },
    figures: { duplicated: { bySender: 0, inProgress: 1, ours: 0 }, recoveryMs: 4_000 },
  },
  {
    name: 'counts the request for a copy once, although a kill would explain it too',
    evidence: {
      calls: calls.map(call => (call.at === 1_100 ? { ...call, at: 4_900 } : call)),
      limits: { ...nothingWrong.limits, latestMs: 10_000 },
      ...{ injected: [kill], kills: { operators: 0, dispatchers: 1 } },
    },
    figures: { duplicates: 0 },
  },
  {
    name: 'fails more duplicates in progress than killed dispatchers explain',
    evidence: {
      ...resentB,
    },
    failures: [/^duplicates that 0 killed dispatchers had in progress: 1, limit 0$/, notCounted],
  },
  {
    name: 'permits 256 copies that a killed operator process wrote twice',
    evidence: { ...resent(257), kills: { operators: 1, dispatchers: 0 } },
    figures: { duplicates: 256, duplicated: { bySender: 0, inProgress: 256, ours: 0 } },
  },
  {
    name: 'fails more copies than that',
    evidence: { ...resent(258), kills: { operators: 1, dispatchers: 0 } },
    failures: [/^copies that 1 killed operator processes wrote twice: 257, limit 256$/],
  },
  {
    name: 'fails a job that was not done',
    evidence: { jobs: [...nothingWrong.jobs, { ...done('resend'), state: 'failed', error: 'disabled' }] },
    failures: [/^jobs not done: 1 \(resend 1 failed disabled\)$/],
  },
  {
    name: 'fails a run without a job of each kind',
    evidence: { jobs: [] },
    failures: [/^no replay has ended$/, /^no resend has ended$/],
  },
  {
    name: 'fails dead letters that are left',
    evidence: { deadLettersLeft: 3 },
    failures: [/^dead letters left after the last replay: 3$/],
  },
  {
    name: 'fails a difference of the ledger during the run',
    evidence: { ledgers: [balanced, { ...balanced, difference: 1 }] },
    failures: [/^the ledger had a difference during the run: 1 .*"difference":1/],
  },
  {
    name: 'ignores a ledger during the run that was not read completely',
    evidence: { ledgers: [...nothingWrong.ledgers, incomplete] },
  },
  {
    name: 'fails a run in which the ledger was read completely only once',
    evidence: { ledgers: [balanced, incomplete], finalLedger: undefined },
    failures: [/^the ledger was read completely only 1 times during the run$/, /^the ledger was not read at the end$/],
  },
  ...(
    [
      ['a difference', { ...balanced, difference: 2 }],
      ['a missing difference', { ...balanced, difference: undefined }],
      ['records that wait', { ...balanced, waiting: 1 }],
      ['deliveries that were not admitted', { ...balanced, admitted: 3 }],
      ['an incomplete answer', { ...balanced, partial: true }],
    ] as const
  ).map(([what, finalLedger]) => ({
    name: `fails ${what} at the end`,
    evidence: { finalLedger },
    failures: [/^the ledger at the end, with 4 deliveries to admit: \{/],
  })),
  {
    name: 'fails a ledger that does not count a copy of a job',
    evidence: { finalLedger: { ...balanced, replayed: 1 } },
    failures: [/^the ledger counts 1 copies of jobs, and the retry topics have 2$/],
  },
  {
    name: 'permits copies and requests that killed dispatchers repeated',
    evidence: {
      kills: { operators: 0, dispatchers: 1 },
      finalLedger: { ...balanced, repeated: inProgressOfOne, delivered: 4 },
    },
  },
  {
    name: 'fails more repeated copies than killed dispatchers explain',
    evidence: { finalLedger: { ...balanced, repeated: 1 } },
    failures: [/^copies that 0 killed dispatchers wrote twice, by the ledger: 1, limit 0$/],
  },
  {
    name: 'fails a ledger that counts more deliveries than the endpoints',
    evidence: { finalLedger: { ...balanced, delivered: 6 } },
    failures: [/^the ledger counts 6 delivered, and the endpoints accepted 5 requests \(0 killed dispatchers\)$/],
  },
  {
    name: 'fails a ledger that misses deliveries',
    evidence: { finalLedger: { ...balanced, delivered: 4 } },
    failures: [notCounted],
  },
  {
    name: 'fails messages of one user in the wrong order',
    evidence: { order: { ...nothingWrong.order, places: placesAt(2, 1) } },
    figures: { orderedPairs: 1, reversed: 1 },
    failures: [/^out of order for their user: 1 \(resent a by p1, before b by p1 had ended\)$/],
  },
  {
    name: 'fails a run in which the order cannot be judged',
    evidence: { order: { ...nothingWrong.order, places: placesAt(1) } },
    failures: [/^no two messages of one user, so order cannot be judged$/],
  },
  {
    name: 'fails a first request that comes late, whatever its response is',
    evidence: { calls: [{ ...refused, at: 1_101 }, ...calls.slice(1)] },
    figures: { latestMs: 101 },
    failures: [/^the slowest first request of an event began 101 ms after its acknowledgement, limit 100 ms$/],
  },
  {
    name: 'fails a slow recovery',
    evidence: { injected: [{ ...kill, recoveredAt: 16_000 }] },
    figures: { recoveryMs: 11_000 },
    failures: [/^a fault recovered after 11000 ms, limit 10000 ms$/],
  },
  {
    name: 'fails a fault without a recovery',
    evidence: { injected: [{ ...kill, recoveredAt: undefined }] },
    figures: { recoveryMs: null },
    failures: [/^a fault did not recover: SIGKILL p1$/],
  },
  {
    name: 'fails on probes and other observed problems',
    evidence: { probes: { ...nothingWrong.probes, unready: ['o1'] }, problems: ['o1 ended with exit code 1'] },
    failures: [/^o1 ended with exit code 1$/, /^not ready at the end: o1$/],
  },
]

describe('the verdict on replays and resends', () => {
  it.each(cases)('$name', ({ evidence, figures = {}, failures = [] }) => {
    const findings = judgeJobs({ ...nothingWrong, ...evidence })
    expect(findings).toMatchObject(figures)
    expect(findings.failures).toEqual(failures.map(each => expect.stringMatching(each)))
  })

  it('shows how much was replayed and resent', () => {
    expect(judgeJobs(nothingWrong).measured).toEqual([
      '1 replays and 1 resends ended',
      '2 deliveries were replayed or resent. 0 copies were written twice, and 0 requests were repeated because of a kill',
      'the ledger was read 2 times, 2 times completely. At the end: admitted 4, replayed 2, repeated 0, delivered 5, waiting 0, difference 0',
    ])
  })
})
