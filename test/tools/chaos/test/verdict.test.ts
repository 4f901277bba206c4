import { describe, expect, it } from '@jest/globals'
import type { Delivery, Sent } from '../ledger.ts'
import { judge } from '../verdict.ts'
import { a, b, by, type Case, expectVerdict, kill, nothingWrong, sent } from './evidence.ts'

const cases: readonly Case[] = [
  {
    name: 'everything delivered once holds',
    evidence: {},
    figures: { sent: 2, delivered: 2, waiting: 0, lost: 0, duplicates: 0, latestMs: 200, pauseMs: null, intake: null },
  },
  {
    name: 'an event that is nowhere is lost',
    evidence: { deliveries: [by('p1', a, 1_100)] },
    figures: { delivered: 1, lost: 1 },
    failures: [/^lost: 1 \(crm b\)$/],
  },
  {
    name: 'each destination has to get it',
    evidence: { destinations: ['crm', 'erp'], deliveries: [by('p1', a, 1), by('p1', b, 2), by('p1', a, 3, 'erp')] },
    figures: { sent: 4, delivered: 3 },
    failures: [/^lost: 1 \(erp b\)$/],
  },
  {
    name: 'what waits in a retry topic is not lost, but should have come',
    evidence: { deliveries: [by('p1', a, 1_100)], parked: new Set(['crm b']) },
    figures: { delivered: 1, waiting: 1, lost: 0 },
    failures: [/^still in a retry topic although nothing stands in the way: 1$/],
  },
  {
    name: 'a dead letter is not lost, but should not be',
    evidence: { deliveries: [by('p1', a, 1_100)], deadLettered: new Map([['crm b', 'retries_exhausted']]) },
    figures: { deadLettered: 1, lost: 0 },
    failures: [/^dead-lettered although their endpoint works: 1 \(crm b as retries_exhausted\)$/],
  },
  {
    name: 'unless its endpoint has refused it',
    evidence: {
      deliveries: [by('p1', a, 1_100)],
      deadLettered: new Map([['crm b', 'retries_exhausted']]),
      refused: new Set(['crm b']),
    },
    figures: { delivered: 1, deadLettered: 1, lost: 0 },
  },
  {
    name: 'what was refused and lies nowhere is lost',
    evidence: { deliveries: [by('p1', a, 1_100)], refused: new Set(['crm b']) },
    figures: { deadLettered: 0, lost: 1 },
    failures: [/^lost: 1 \(crm b\)$/],
  },
  {
    name: 'no recovery fails',
    evidence: { injected: [{ ...kill, recoveredAt: undefined }] },
    figures: { recoveryMs: null },
    failures: [/^SIGKILL p1: no recovery$/],
  },
  {
    name: 'a late recovery fails; the worst is the figure',
    evidence: { injected: [kill, { ...kill, what: 'SIGKILL p2', recoveredAt: 16_000 }] },
    figures: { recoveryMs: 11_000 },
    failures: [/^SIGKILL p2: recovered after 11000 ms, limit 10000 ms$/],
  },
  {
    name: 'patience stretches every limit',
    evidence: { injected: [{ ...kill, recoveredAt: 16_000 }], patience: 2 },
    figures: { recoveryMs: 11_000 },
  },
  {
    name: 'what came too late after its acknowledgement',
    evidence: { limits: { duplicates: 0, recoveryMs: 1, latestMs: 150 } },
    figures: { latestMs: 200 },
    failures: [/^the latest delivery came late by: 200 ms, limit 150 ms$/],
  },
  {
    name: 'only the first delivery of an event says how late it was',
    evidence: {
      limits: { duplicates: 1, recoveryMs: 1, latestMs: 200 },
      deliveries: [...nothingWrong.deliveries, by('p2', a, 90_000)],
    },
    figures: { latestMs: 200 },
  },
  {
    name: 'what came in has its own figures, and its own reasons to fail',
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
      /^Kafka away: accepted again after 1001 ms, limit 1000 ms$/,
      /^a collector had 10 MB resident, limit 9 MB$/,
    ],
  },
  {
    name: 'a process that its liveness probe restarted',
    evidence: { probes: { restarts: ['p2: 503 dispatcher: stalled'], longestUnreadyMs: 0, unready: [] } },
    failures: [/^restarted by its liveness probe: p2: 503 dispatcher: stalled$/],
  },
  {
    name: 'a process that never became ready again',
    evidence: { probes: { restarts: [], longestUnreadyMs: 9_000, unready: ['p2'] } },
    failures: [/^not ready in the end: p2$/],
  },
  {
    name: 'messages of one user that change places',
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
    failures: [/^not in the order of their user: 1 \(crm b by p1, before a by p1 had ended\)$/],
  },
  {
    name: 'an order of which nothing was seen',
    evidence: { order: { places: new Map(), calls: [by('p1', a, 1_100)], retried: new Map() } },
    figures: { orderedPairs: 0, reversed: 0 },
    failures: [/^no two messages of one user: no order to judge$/],
  },
  {
    name: 'what was delivered and given up as well has two fates',
    evidence: { deadLettered: new Map([['crm a', 'retries_exhausted']]) },
    figures: { delivered: 2, deadLettered: 0 },
    failures: [/^delivered and dead-lettered as well: 1 \(crm a\)$/],
  },
  {
    name: 'whatever else was seen counts',
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
          'a partition that did not move (0, with p2 500 ms before SIGKILL p1) paused for: 1500 ms, limit 1000 ms',
        ],
      })
    })

    it('counts a pause that outlasts the fault', () => {
      const findings = during([by('p2', e0, 4_900), by('p2', e2, 11_000)])
      expect(findings).toMatchObject({ pauseMs: 6_100, failures: [expect.stringMatching(/paused for: 6100 ms/)] })
    })

    it('fails when every partition changed its owner', () => {
      const findings = during([by('p1', e1, 4_900), by('p2', e3, 9_000)])
      expect(findings).toMatchObject({
        pauseMs: null,
        failures: ['no partition stayed with its process: no pause to judge'],
      })
    })

    it('ignores partitions of the victim, partitions with a new owner, and pauses long before', () => {
      const moved = [by('p1', e1, 4_900), by('p2', e3, 9_000), by('p2', e5, 9_100)]
      const early = [by('p2', e0, 1_000), by('p2', e2, 4_950), by('p2', e4, 5_000)]
      expect(during([...early, ...moved])).toMatchObject({ pauseMs: 50, failures: [] })
    })
  })
})
