import { describe, expect, it } from '@jest/globals'
import { type AudienceEvidence, judgeAudience, type Told } from '../audience-verdict.ts'

const toldAt = (destination: string, override: Partial<Told> = {}): Told => ({
  destination,
  members: new Set(['ann', 'bob']),
  taken: 4,
  repeated: [],
  toldAgain: [],
  ...override,
})
const many = Array.from({ length: 201 }, (_, index) => `n${index}`)
const nothingWrong: AudienceEvidence = {
  limits: { settledMs: 10_000 },
  patience: 1,
  truth: new Set(['ann', 'bob']),
  changes: 4,
  told: [toldAt('crm'), toldAt('moody')],
  settled: [
    { list: 'the first list', afterMs: 2_000.4 },
    { list: 'the changed list', afterMs: 9_000 },
  ],
  syncStatuses: { inFlight: 0, unknown: 0, different: 0 },
  deadLettered: 0,
  copies: new Map(),
  victims: { audiences: 0, dispatchers: 0 },
  probes: { restarts: [], longestUnreadyMs: 0, unready: [] },
  problems: [],
}

interface Case {
  readonly name: string
  readonly evidence: Partial<AudienceEvidence>
  readonly figures?: Record<string, unknown>
  readonly failures?: readonly string[]
}

const cases: readonly Case[] = [
  {
    name: 'everybody has the list, told once',
    evidence: {},
    figures: { sent: 8, delivered: 8, waiting: 0, deadLettered: 0, lost: 0, duplicates: 0, recoveryMs: 9_000 },
  },
  {
    name: 'messages that come again under their id, and nobody was killed',
    evidence: { told: [toldAt('crm', { repeated: ['m1'] }), toldAt('moody', { repeated: ['m1', 'm2'] })] },
    figures: { delivered: 8, duplicates: 3, duplicated: { bySender: 0, inProgress: 0, ours: 3 } },
    failures: ['delivered again without a reason: 3 (crm m1; moody m1; moody m2)'],
  },
  {
    name: 'a dispatcher that was killed had some in progress; another process wrote one again',
    evidence: {
      told: [toldAt('crm', { repeated: ['m1', 'm1'] })],
      copies: new Map([['m1', 2]]),
      victims: { audiences: 1, dispatchers: 1 },
    },
    figures: { duplicated: { bySender: 1, inProgress: 1, ours: 0 } },
  },
  {
    name: 'more came again than those that were hit could have had',
    evidence: {
      told: [toldAt('crm', { repeated: [...many, 'm1'] })],
      copies: new Map([['m1', 2]]),
      victims: { audiences: 0, dispatchers: 1 },
    },
    failures: [
      'delivered again what 0 audiences processes wrote again: 1, limit 0',
      'delivered again what 1 dispatchers had in progress: 201, limit 200',
    ],
  },
  {
    name: 'a process was restarted by its probe, another one is not ready in the end',
    evidence: { probes: { restarts: ['a1: 503'], longestUnreadyMs: 0, unready: ['d1'] } },
    failures: ['restarted by its liveness probe: a1: 503', 'not ready in the end: d1'],
  },
  {
    name: 'somebody is missing',
    evidence: { told: [toldAt('crm', { members: new Set(['bob']), taken: 3 }), toldAt('moody')] },
    figures: { delivered: 7, lost: 1 },
    failures: ['not as in the last list: 1 (crm does not know ann)', 'crm was told 3 changes of 4'],
  },
  {
    name: 'somebody is still in it',
    evidence: { told: [toldAt('crm'), toldAt('moody', { members: new Set(['ann', 'bob', 'cem']) })] },
    figures: { lost: 1 },
    failures: ['not as in the last list: 1 (moody still has cem)'],
  },
  {
    name: 'many are wrong: some are named',
    evidence: { told: [toldAt('crm', { members: new Set() }), toldAt('moody', { members: new Set() })] },
    figures: { lost: 4 },
    failures: ['not as in the last list: 4 (crm does not know ann; crm does not know bob; moody does not know ann; …)'],
  },
  {
    name: 'somebody is told what they had, under another id',
    evidence: { told: [toldAt('crm', { taken: 5, toldAgain: ['ann'] })] },
    figures: { sent: 4, delivered: 5, lost: 0 },
    failures: ['told again what they had: 1 (crm ann)', 'crm was told 5 changes of 4'],
  },
  {
    name: 'somebody is told to and fro: right in the end, and too much',
    evidence: { told: [toldAt('crm', { taken: 6 })] },
    failures: ['crm was told 6 changes of 4'],
  },
  {
    name: 'a list settles too late',
    evidence: { settled: [{ list: 'the first list', afterMs: 10_001 }] },
    figures: { recoveryMs: 10_001 },
    failures: ['the first list: settled after 10001 ms, limit 10000 ms'],
  },
  {
    name: 'a busy machine has more time',
    evidence: { settled: [{ list: 'the first list', afterMs: 10_001 }], patience: 2 },
  },
  {
    name: 'a list never settles',
    evidence: { settled: [...nothingWrong.settled, { list: 'the same list again', afterMs: null }] },
    figures: { recoveryMs: null },
    failures: ['the same list again: it did not settle'],
  },
  {
    name: 'the service does not know what everybody has',
    evidence: { syncStatuses: { inFlight: 1, unknown: 2, different: 3 } },
    figures: { waiting: 1 },
    failures: [
      'memberships in the end inFlight: 1',
      'memberships in the end unknown: 2',
      'memberships in the end different: 3',
    ],
  },
  {
    name: 'a change was given up',
    evidence: { deadLettered: 2 },
    figures: { deadLettered: 2 },
    failures: ['dead-lettered although every endpoint works: 2'],
  },
  {
    name: 'what else was seen fails it too',
    evidence: { problems: ['a1 ended with exit code 1'] },
    failures: ['a1 ended with exit code 1'],
  },
]

describe('the verdict on an audience', () => {
  it.each(cases)('$name', ({ evidence, figures = {}, failures = [] }) => {
    const findings = judgeAudience({ ...nothingWrong, ...evidence })
    expect(findings).toMatchObject(figures)
    expect(findings.failures).toEqual(failures)
  })

  it('does not judge single messages', () => {
    expect(judgeAudience(nothingWrong)).toMatchObject({ latestMs: null, pauseMs: null, intake: null })
  })
})
