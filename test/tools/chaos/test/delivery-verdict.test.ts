import { describe, expect, it } from '@jest/globals'
import { judge } from '../delivery-verdict.ts'
import type { Delivery, Sent } from '../message-ledger.ts'
import { a, b, by, type Case, expectVerdict, kill, nothingWrong, sent } from './evidence.ts'

/** Three messages of one user. The endpoint got `a` and `b`, but no request for `c`. */
const placesOfUser = new Map(
  ['a', 'b', 'c'].map((id, offset) => [id, { partition: 0, offset, key: 'u', copies: 1 }] as const),
)
const oneAfterTheOther = nothingWrong.deliveries.map(call => ({ ...call, endedAt: call.at }))

const cases: readonly Case[] = [
  {
    name: 'holds when everything is delivered once',
    evidence: {},
    figures: { sent: 2, delivered: 2, waiting: 0, lost: 0, duplicates: 0, latestMs: 200, pauseMs: null, intake: null },
  },
  {
    name: 'fails a lost event',
    evidence: { deliveries: [by('p1', a, 1_100)] },
    figures: { delivered: 1, lost: 1 },
    failures: [/^lost: 1 \(crm b\)$/],
  },
  {
    name: 'requires delivery to each destination',
    evidence: { destinations: ['crm', 'erp'], deliveries: [by('p1', a, 1), by('p1', b, 2), by('p1', a, 3, 'erp')] },
    figures: { sent: 4, delivered: 3 },
    failures: [/^lost: 1 \(erp b\)$/],
  },
  {
    name: 'fails an event that still waits in a retry topic',
    evidence: { deliveries: [by('p1', a, 1_100)], waiting: new Set(['crm b']) },
    figures: { delivered: 1, waiting: 1, lost: 0 },
    failures: [/^still in a retry topic, although no fault is active: 1$/],
  },
  {
    name: 'fails a dead letter of a working endpoint',
    evidence: { deliveries: [by('p1', a, 1_100)], deadLettered: new Map([['crm b', 'retries_exhausted']]) },
    figures: { deadLettered: 1, lost: 0 },
    failures: [/^dead-lettered although their endpoint works: 1 \(crm b as retries_exhausted\)$/],
  },
  {
    name: 'permits a dead letter that its endpoint rejected',
    evidence: {
      deliveries: [by('p1', a, 1_100)],
      deadLettered: new Map([['crm b', 'retries_exhausted']]),
      refused: new Set(['crm b']),
    },
    figures: { delivered: 1, deadLettered: 1, lost: 0 },
  },
  {
    name: 'fails a rejected event without a dead letter',
    evidence: { deliveries: [by('p1', a, 1_100)], refused: new Set(['crm b']) },
    figures: { deadLettered: 0, lost: 1 },
    failures: [/^lost: 1 \(crm b\)$/],
  },
  {
    name: 'fails a fault without recovery',
    evidence: { injected: [{ ...kill, recoveredAt: undefined }] },
    figures: { recoveryMs: null },
    failures: [/^SIGKILL p1: not every affected partition delivered again$/],
  },
  {
    name: 'fails a late recovery, and reports the longest',
    evidence: { injected: [kill, { ...kill, what: 'SIGKILL p2', recoveredAt: 16_000 }] },
    figures: { recoveryMs: 11_000 },
    failures: [/^SIGKILL p2: recovered after 11000 ms, limit 10000 ms$/],
  },
  {
    name: 'extends all limits by the patience factor',
    evidence: { injected: [{ ...kill, recoveredAt: 16_000 }], patience: 2 },
    figures: { recoveryMs: 11_000 },
  },
  {
    name: 'fails a late delivery',
    evidence: { limits: { duplicates: 0, recoveryMs: 1, latestMs: 150 } },
    figures: { latestMs: 200 },
    failures: [/^the slowest delivery took 200 ms, limit 150 ms$/],
  },
  {
    name: 'fails a process that is not ready for longer than the limit of the row',
    evidence: {
      limits: { ...nothingWrong.limits, unreadyMs: 20_000 },
      probes: { restarts: [], longestUnreadyMs: 20_001, unready: [] },
    },
    figures: { unreadyMs: 20_001 },
    failures: [/^a process was not ready for 20001 ms, limit 20000 ms$/],
  },
  {
    name: 'fails when the order of too few messages could be judged',
    evidence: { order: { places: placesOfUser, calls: oneAfterTheOther, retried: new Map() } },
    figures: { orderedPairs: 1 },
    failures: [/^order judged for 1 of 2 pairs, 50 %, minimum 80 %$/],
  },
  {
    name: 'permits a lower share of judged pairs in a row that says so',
    evidence: {
      limits: { ...nothingWrong.limits, orderedShare: 0.5 },
      order: { places: placesOfUser, calls: oneAfterTheOther, retried: new Map() },
    },
  },
  {
    name: 'measures the latency of the first delivery',
    evidence: {
      limits: { duplicates: 1, recoveryMs: 1, latestMs: 200 },
      deliveries: [...nothingWrong.deliveries, by('p2', a, 90_000)],
    },
    figures: { latestMs: 200 },
  },
  {
    name: 'includes the figures and failures of collectors',
    evidence: {
      patience: 2,
      injected: [{ ...kill, what: 'Kafka away', from: 8_000 }],
      intake: {
        limits: { refusals: 'in_outages', broken: 'none', answerMs: 10, acceptedMs: 500, peakMb: 9 },
        posted: [
          { collector: 'c1', messages: 3, at: 6_000, endedAt: 6_020, answer: 503, retryAfter: '5' },
          { collector: 'c1', messages: 2, at: 9_000, endedAt: 9_001, answer: 200, retryAfter: undefined },
        ],
        seen: { looks: [], peakMb: new Map([['c1', 9.5]]) },
      },
    },
    figures: { intake: { refused: 3, broken: 0, answerMs: 20, acceptedMs: 1_001, peakMb: 10 } },
    failures: [
      /^Kafka away: the collectors accepted a message again after 1001 ms, limit 1000 ms$/,
      /^a collector had 10 MB of resident memory, limit 9 MB$/,
    ],
  },
  {
    name: 'fails a restart by the liveness probe',
    evidence: { probes: { restarts: ['p2: 503 dispatcher: stalled'], longestUnreadyMs: 0, unready: [] } },
    failures: [/^restarted by its liveness probe: p2: 503 dispatcher: stalled$/],
  },
  {
    name: 'fails a process that is not ready at the end',
    evidence: { probes: { restarts: [], longestUnreadyMs: 9_000, unready: ['p2'] } },
    failures: [/^not ready at the end: p2$/],
  },
  {
    name: 'fails reversed messages of one user',
    evidence: {
      order: {
        places: new Map([
          ['a', { partition: 0, offset: 1, key: 'u', copies: 1 }],
          ['b', { partition: 0, offset: 2, key: 'u', copies: 1 }],
        ]),
        calls: [by('p1', b, 1_100), by('p1', a, 1_200)].map(call => ({ ...call, endedAt: call.at + 10 })),
        retried: new Map(),
      },
    },
    figures: { orderedPairs: 1, reversed: 1 },
    failures: [/^out of order for their user: 1 \(crm b by p1, before a by p1 had ended\)$/],
  },
  {
    name: 'fails when order cannot be judged',
    evidence: { order: { places: new Map(), calls: [by('p1', a, 1_100)], retried: new Map() } },
    figures: { orderedPairs: 0, reversed: 0 },
    failures: [/^no two messages of one user, so order cannot be judged$/],
  },
  {
    name: 'fails an event that is delivered and dead-lettered',
    evidence: { deadLettered: new Map([['crm a', 'retries_exhausted']]) },
    figures: { delivered: 2, deadLettered: 0 },
    failures: [/^both delivered and dead-lettered: 1 \(crm a\)$/],
  },
  {
    name: 'fails on other observed problems',
    evidence: { problems: ['p1 ended with exit code 1'] },
    failures: [/^p1 ended with exit code 1$/],
  },
]

describe('the verdict on a scenario', () => {
  it.each(cases)('$name', expectVerdict)

  describe('the pause of a partition that keeps its owner', () => {
    const limits = { duplicates: 0, recoveryMs: 10_000, latestMs: 100_000, pauseMs: 1_000 }
    const events = Array.from({ length: 6 }, (_, index) => sent(`e${index}`, index % 2))
    const [e0, e1, e2, e3, e4, e5] = events as [Sent, Sent, Sent, Sent, Sent, Sent]
    const during = (deliveries: readonly Delivery[]) =>
      judge({ ...nothingWrong, limits, acknowledged: deliveries.map(each => each.sent), deliveries, injected: [kill] })

    it('measures the longest time between two deliveries around the fault', () => {
      const findings = during([by('p2', e0, 4_500), by('p2', e2, 6_000), by('p2', e4, 6_100)])
      expect(findings).toMatchObject({
        pauseMs: 1_500,
        failures: [
          'a partition that did not move (0, with p2 500 ms before SIGKILL p1) paused for 1500 ms, limit 1000 ms',
        ],
      })
    })

    it('counts a pause that outlasts the fault', () => {
      const findings = during([by('p2', e0, 4_900), by('p2', e2, 11_000)])
      expect(findings).toMatchObject({ pauseMs: 6_100, failures: [expect.stringMatching(/paused for 6100 ms/)] })
    })

    it('fails when every partition changed its owner', () => {
      const findings = during([by('p1', e1, 4_900), by('p2', e3, 9_000)])
      expect(findings).toMatchObject({
        pauseMs: null,
        failures: ['no partition stayed with its process, so the pauses of partitions cannot be judged'],
      })
    })

    it('ignores partitions of the victim, partitions with a new owner, and pauses long before', () => {
      const moved = [by('p1', e1, 4_900), by('p2', e3, 9_000), by('p2', e5, 9_100)]
      const early = [by('p2', e0, 1_000), by('p2', e2, 4_950), by('p2', e4, 5_000)]
      expect(during([...early, ...moved])).toMatchObject({ pauseMs: 50, failures: [] })
    })
  })
})
