import { describe, expect, it } from '@jest/globals'
import type { Delivery, Sent } from '../../chaos/ledger.ts'
import { type Evidence, judge } from '../../chaos/verdict.ts'

const sent = (id: string, partition = 0, at = 1_000): Sent => ({ id, partition, at, acknowledgedAt: at })
const by = (process: string, of: Sent, at: number, destination = 'crm'): Delivery => ({
  id: of.id,
  destination,
  process,
  at,
  answer: 200,
  sent: of,
})
const a = sent('a')
const b = sent('b')
const kill = { what: 'SIGKILL p1', at: 5_000, from: 5_000, recoveredAt: 9_000, victims: ['p1'] }
const nothingWrong: Evidence = {
  limits: { duplicates: 'none', recoveryMs: 10_000 },
  patience: 1,
  destinations: ['crm'],
  acknowledged: [a, b],
  deliveries: [by('p1', a, 1_100), by('p1', b, 1_200)],
  injected: [],
  deadLettered: new Map(),
  parked: new Set(),
  refused: new Set(),
  problems: [],
}
const ofVictims = { duplicates: 'of_victims', recoveryMs: 10_000 } as const

interface Case {
  readonly name: string
  readonly evidence: Partial<Evidence>
  readonly figures?: Record<string, unknown>
  readonly failures?: readonly RegExp[]
}

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
    name: 'a second delivery has no excuse where none may be',
    evidence: { deliveries: [...nothingWrong.deliveries, by('p2', a, 1_300)] },
    figures: { duplicates: 1 },
    failures: [/^delivered again without a reason: 1 \(crm a by p1, 200 ms later by p2\)$/],
  },
  {
    name: 'counted duplicates are only counted',
    evidence: {
      limits: { duplicates: 'counted', recoveryMs: 1 },
      deliveries: [...nothingWrong.deliveries, by('p2', a, 1_300), by('p3', a, 1_400)],
    },
    figures: { duplicates: 2 },
  },
  {
    name: 'what a victim did in its last second may come again',
    evidence: {
      limits: ofVictims,
      injected: [kill],
      deliveries: [by('p1', a, 4_100), by('p1', b, 5_100), by('p2', a, 8_000), by('p2', b, 8_100)],
    },
    figures: { duplicates: 2, recoveryMs: 4_000 },
  },
  {
    name: 'each of several victims of one strike',
    evidence: {
      limits: ofVictims,
      injected: [{ ...kill, victims: ['p1', 'p3'] }],
      deliveries: [by('p1', a, 4_900), by('p3', b, 4_900), by('p2', a, 8_000), by('p2', b, 8_100)],
    },
    figures: { duplicates: 2 },
  },
  {
    name: 'what a victim did before that may not',
    evidence: {
      limits: ofVictims,
      injected: [kill],
      deliveries: [by('p1', a, 3_900), by('p1', b, 4_900), by('p2', a, 8_000)],
    },
    failures: [/^delivered again without a reason: 1 \(crm a by p1/],
  },
  {
    name: 'unless the machine was so busy that its commit may be older',
    evidence: {
      limits: ofVictims,
      patience: 2,
      injected: [kill],
      deliveries: [by('p1', a, 3_000), by('p1', b, 5_500), by('p2', a, 8_000), by('p2', b, 8_000)],
    },
    figures: { duplicates: 2 },
  },
  {
    name: 'what another process did may not',
    evidence: {
      limits: ofVictims,
      injected: [kill],
      deliveries: [by('p3', a, 4_900), by('p1', b, 4_900), by('p2', a, 8_000)],
    },
    failures: [/crm a by p3 100 ms before SIGKILL p1, 3100 ms later by p2/],
  },
  {
    name: 'a zombie may not repeat what its successor has done',
    evidence: {
      limits: ofVictims,
      injected: [kill],
      deliveries: [by('p1', b, 4_900), by('p2', a, 8_000), by('p1', a, 12_000)],
    },
    failures: [/crm a by p2 3000 ms after SIGKILL p1, 4000 ms later by p1/],
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
    evidence: { limits: { duplicates: 'none', recoveryMs: 1, latestMs: 150 } },
    figures: { latestMs: 200 },
    failures: [/^the latest delivery came late by: 200 ms, limit 150 ms$/],
  },
  {
    name: 'only the first delivery of an event says how late it was',
    evidence: {
      limits: { duplicates: 'counted', recoveryMs: 1, latestMs: 200 },
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
    name: 'whatever else was seen counts',
    evidence: { problems: ['p1 ended with exit code 1'] },
    failures: [/^p1 ended with exit code 1$/],
  },
]

describe('the verdict', () => {
  it.each(cases)('$name', ({ evidence, figures = {}, failures = [] }) => {
    const findings = judge({ ...nothingWrong, ...evidence })
    expect(findings).toMatchObject(figures)
    expect(findings.failures).toEqual(failures.map(each => expect.stringMatching(each)))
  })

  describe('the pause of a partition that does not move', () => {
    const limits = { duplicates: 'none', recoveryMs: 10_000, pauseMs: 1_000 } as const
    const events = Array.from({ length: 6 }, (_, index) => sent(`e${index}`, index % 2))
    const [e0, e1, e2, e3, e4, e5] = events as [Sent, Sent, Sent, Sent, Sent, Sent]
    const during = (deliveries: readonly Delivery[]) =>
      judge({ ...nothingWrong, limits, acknowledged: deliveries.map(each => each.sent), deliveries, injected: [kill] })

    it('is the longest time between two deliveries about the fault', () => {
      const findings = during([by('p2', e0, 4_500), by('p2', e2, 6_000), by('p2', e4, 6_100)])
      expect(findings).toMatchObject({
        pauseMs: 1_500,
        failures: [
          'a partition that did not move (0, with p2 500 ms before SIGKILL p1) paused for: 1500 ms, limit 1000 ms',
        ],
      })
    })

    it('does not count where the victim was, where the owner changed, or long before', () => {
      const moved = [by('p1', e1, 4_900), by('p2', e3, 9_000), by('p2', e5, 9_100)]
      const early = [by('p2', e0, 1_000), by('p2', e2, 4_950), by('p2', e4, 5_000)]
      expect(during([...early, ...moved])).toMatchObject({ pauseMs: 50, failures: [] })
    })
  })
})
