import { describe, expect, it } from '@jest/globals'
import type { ReadinessPoll } from '../../chaos/collector-watch.ts'
import { type IntakeEvidence, type IntakeLimits, judgeIntake } from '../collector-verdict.ts'
import type { Injected } from '../delivery-verdict.ts'
import type { Posted } from '../message-ledger.ts'

const posted = (answer: Posted['answer'], at: number, more: Partial<Posted> = {}): Posted => ({
  collector: 'c1',
  messages: 10,
  at,
  endedAt: at + 20,
  answer,
  retryAfter: answer === 503 ? '5' : undefined,
  ...more,
})
const look = (at: number, isReady = true, collector = 'c1'): ReadinessPoll => ({ collector, at, isReady })
const fault = (more: Partial<Injected> = {}): Injected => ({
  ...{ what: 'SIGKILL c1', at: 10_000, from: 10_000, recoveredAt: 12_000, victims: ['c1'] },
  ...more,
})
const outage = fault({ what: 'Kafka away', from: 70_000, recoveredAt: 75_000, victims: [] })

const strict: IntakeLimits = { refusals: 'none', broken: 'none', answerMs: 1_000, acceptedMs: 5_000, peakMb: 300 }
const inOutages: IntakeLimits = { ...strict, refusals: 'in_outages' }
const ofVictims: IntakeLimits = { ...strict, broken: 'of_victims' }
const watched: IntakeLimits = { ...inOutages, readiness: { unreadyMs: 20_000, readyMs: 5_000 } }

const nothingWrong: IntakeEvidence = {
  limits: strict,
  patience: 1,
  posted: [posted(200, 1_000), posted(200, 2_000)],
  injected: [],
  seen: { looks: [look(500), look(90_000)], peakMb: new Map([['c1', 120.2]]) },
}
const survived: Partial<IntakeEvidence> = {
  limits: inOutages,
  posted: [posted(200, 9_000), posted(503, 30_000), posted(503, 74_000), posted(200, 74_500)],
  injected: [outage],
}
const killed = (...all: readonly Posted[]): Partial<IntakeEvidence> => ({
  limits: ofVictims,
  injected: [fault()],
  posted: all,
})
const seen = (...looks: readonly ReadinessPoll[]): Pick<IntakeEvidence, 'seen'> => ({
  seen: { ...nothingWrong.seen, looks },
})

interface Case {
  readonly name: string
  readonly evidence: Partial<IntakeEvidence>
  readonly figures?: Record<string, unknown>
  readonly failures?: readonly RegExp[]
}

const answerScenarios: readonly Case[] = [
  {
    name: 'holds when all requests are accepted',
    evidence: {},
    figures: { refused: 0, broken: 0, answerMs: 20, acceptedMs: 0, peakMb: 121 },
  },
  {
    name: 'counts rejected messages while Kafka is unavailable',
    evidence: survived,
    figures: { refused: 20, acceptedMs: 4_520 },
  },
  {
    name: 'fails a 503 in a scenario that permits none',
    evidence: { ...survived, limits: strict },
    failures: [/^unexpected response 503: 2 requests \(10 by c1 at 30000; 10 by c1 at 74000\)$/],
  },
  {
    name: 'fails a 503 before the outage',
    evidence: { ...survived, posted: [posted(503, 9_000), ...survived.posted!] },
    failures: [/^unexpected response 503: 1 requests \(10 by c1 at 9000\)$/],
  },
  {
    name: 'fails a 503 after the recovery',
    evidence: { ...survived, posted: [...survived.posted!, posted(503, 75_000)] },
    failures: [/^unexpected response 503: 1 requests \(10 by c1 at 75000\)$/],
  },
  {
    name: 'fails a 503 during a recovery without an outage',
    evidence: { ...survived, posted: survived.posted!.slice(1, 3).concat(posted(200, 10_100)), injected: [fault()] },
    failures: [/^unexpected response 503: 2 requests/],
  },
  {
    name: 'fails a 503 without Retry-After',
    evidence: { ...survived, posted: [...survived.posted!, posted(503, 40_000, { retryAfter: undefined })] },
    failures: [/^503 without a valid Retry-After: 1 requests \(10 by c1 at 40000\)$/],
  },
  {
    name: 'fails a Retry-After of 0',
    evidence: { ...survived, posted: [...survived.posted!, posted(503, 40_000, { retryAfter: '0' })] },
    failures: [/^503 without a valid Retry-After/],
  },
  {
    name: 'fails an outage without a 503',
    evidence: { ...survived, posted: [posted(200, 9_000), posted(200, 30_000), posted(200, 70_100)] },
    failures: [/^Kafka away: no request got a 503, although Kafka could not be reached$/],
  },
  {
    name: 'fails another status, also in an outage',
    evidence: { ...survived, posted: [posted(500, 30_000), ...survived.posted!] },
    failures: [/^unexpected response 500: 1 requests \(10 by c1 at 30000\)$/],
  },
  {
    name: 'fails a broken connection, also in an outage',
    evidence: { ...survived, posted: [posted('broken', 30_000), ...survived.posted!] },
    figures: { broken: 10 },
    failures: [/^requests without a response from a collector that was not killed: 1 requests \(10 by c1 at 30000\)$/],
  },
  {
    name: 'permits broken connections of a killed collector',
    evidence: killed(posted('broken', 9_990), posted(200, 10_000, { collector: 'c2' })),
    figures: { broken: 10, refused: 0, acceptedMs: 20 },
  },
  {
    name: 'fails a broken connection before the kill',
    evidence: killed(posted('broken', 9_970), posted(200, 10_000, { collector: 'c2' })),
    failures: [/^requests without a response from a collector that was not killed: 1 requests \(10 by c1 at 9970\)$/],
  },
  {
    name: 'fails a broken connection of another collector',
    evidence: killed(posted('broken', 9_990, { collector: 'c2' }), posted(200, 10_000, { collector: 'c2' })),
    failures: [/^requests without a response from a collector that was not killed: 1 requests \(10 by c2 at 9990\)$/],
  },
  {
    name: 'permits no response when no collector listens',
    evidence: { posted: [posted('broken', 9_970, { collector: undefined })] },
    failures: [/\(10 by nobody at 9970\)$/],
  },
  {
    name: 'names only three of many requests',
    evidence: { posted: [1, 2, 3, 4].map(at => posted(404, at)) },
    failures: [/^unexpected response 404: 4 requests \(10 by c1 at 1; 10 by c1 at 2; 10 by c1 at 3; …\)$/],
  },
]

const ofTimes: readonly Case[] = [
  {
    name: 'fails a slow response of any status',
    evidence: { ...survived, posted: [posted(503, 30_000, { endedAt: 31_001 }), ...survived.posted!] },
    figures: { answerMs: 1_001 },
    failures: [/^a response of a collector took 1001 ms, limit 1000 ms$/],
  },
  {
    name: 'fails a late recovery, counting only requests after the fault',
    evidence: { ...survived, posted: [posted(503, 30_000), posted(200, 69_999), posted(200, 75_100)] },
    figures: { acceptedMs: 5_120 },
    failures: [/^Kafka away: the collectors accepted a message again after 5120 ms, limit 5000 ms$/],
  },
  {
    name: 'fails when nothing is accepted after the fault',
    evidence: { ...survived, posted: [posted(200, 9_000), posted(503, 30_000)] },
    figures: { acceptedMs: null },
    failures: [/^Kafka away: the collectors accepted no message after it$/],
  },
  {
    name: 'reports the longest time of several faults',
    evidence: { injected: [fault(), fault({ from: 14_000 })], posted: [posted(200, 10_500), posted(200, 16_000)] },
    figures: { acceptedMs: 2_020 },
  },
  {
    name: 'extends all times by the patience factor',
    evidence: {
      ...survived,
      limits: watched,
      patience: 2,
      posted: [posted(503, 30_000, { endedAt: 32_000 }), posted(200, 79_000)],
      injected: [{ ...outage, recoveredAt: 80_000 }],
      ...seen(look(9_000), look(50_000, false), look(80_000)),
    },
    figures: { answerMs: 2_000, acceptedMs: 9_020 },
  },
  {
    name: 'limits the memory of each collector',
    evidence: { seen: { looks: [], peakMb: new Map([...'ab'].map((name, index) => [name, 299.5 + index])) } },
    figures: { peakMb: 301 },
    failures: [/^a collector had 301 MB of resident memory, limit 300 MB$/],
  },
  {
    name: 'fails without the memory of a collector',
    evidence: { seen: { looks: [], peakMb: new Map() } },
    failures: [/^the memory of no collector was measured$/],
  },
]

const ofReadiness: readonly Case[] = [
  {
    name: 'holds when not ready only during the outage',
    evidence: seen(look(9_000), look(25_000), look(30_000, false), look(71_000, false), look(72_000)),
  },
  {
    name: 'fails a collector that stays ready',
    evidence: seen(look(9_000), look(25_000), look(72_000)),
    failures: [/^Kafka away: c1 was still ready after 20000 ms$/],
  },
  {
    name: 'fails a collector that becomes not ready too late',
    evidence: seen(look(9_000), look(31_001, false), look(72_000)),
    failures: [/^Kafka away: c1 was still ready after 20000 ms$/],
  },
  {
    name: 'fails a collector that becomes ready too late',
    evidence: seen(look(9_000), look(30_000, false), look(76_001)),
    failures: [/^Kafka away: c1 was not ready 5000 ms after the end of the outage$/],
  },
  {
    name: 'fails a collector that is not ready without an outage',
    evidence: seen(look(8_000), look(9_999, false), look(30_000, false), look(72_000), look(76_001, false)),
    failures: [/^c1 was not ready without an outage, 2 times$/],
  },
  {
    name: 'judges each collector separately',
    evidence: seen(
      ...[look(9_000), look(30_000, false), look(72_000)],
      ...[look(9_000, true, 'c2'), look(30_000, true, 'c2'), look(72_000, true, 'c2')],
    ),
    failures: [/^Kafka away: c2 was still ready/],
  },
  {
    name: 'ignores a collector that saw only part of the outage',
    evidence: seen(look(9_000), look(20_000), look(40_000, true, 'c2'), look(72_000, true, 'c2')),
  },
  {
    name: 'fails a collector that is not ready after a fault without an outage',
    evidence: {
      posted: [posted(200, 10_100)],
      injected: [fault()],
      ...seen(look(9_000), look(11_000, false), look(13_000)),
    },
    failures: [/^c1 was not ready without an outage, 1 times$/],
  },
  {
    name: 'fails without the readiness of a collector',
    evidence: seen(),
    failures: [/^the readiness of no collector was measured$/],
  },
]

describe('the verdict on the intake of a collector', () => {
  const judged = ({ evidence, figures = {}, failures = [] }: Case): void => {
    const findings = judgeIntake({ ...nothingWrong, ...evidence })
    expect(findings).toMatchObject(figures)
    expect(findings.failures).toEqual(failures.map(each => expect.stringMatching(each)))
  }
  describe('answers', () => it.each(answerScenarios)('$name', judged))
  describe('times and memory', () => it.each(ofTimes)('$name', judged))
  describe('readiness', () =>
    it.each(ofReadiness)('$name', each =>
      judged({ ...each, evidence: { ...survived, limits: watched, ...each.evidence } }),
    ))
  it('does not judge readiness without a limit for it', () => {
    judged({ name: '', evidence: { ...survived, ...seen(look(9_000, false)) } })
  })
})
