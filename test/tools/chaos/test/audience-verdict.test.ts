import { describe, expect, it } from '@jest/globals'
import { type AudienceEvidence, judgeAudience, type ReceivedMessages } from '../audience-verdict.ts'
import type { Injected } from '../delivery-verdict.ts'
import type { Place } from '../order-verdict.ts'

const by = (process: string, at: number, ...ids: readonly string[]) => ids.map(id => ({ id, process, at }))
const taken = (count: number) => by('d1', 1_100, ...Array.from({ length: count }, (_, index) => `m${index + 1}`))
const withMore = (...more: ReceivedMessages['requests']): Partial<ReceivedMessages> => ({
  requests: [...taken(4), ...more],
})
/** Messages with the same key are changes of one user. */
const at = (offset: number, key: string, copies = 1): Place => ({ partition: 0, offset, key, copies, writtenAt: 1_000 })
const kill = (name: string, at = 1_200): Injected => ({
  ...{ what: `SIGKILL ${name}`, at, from: at, recoveredAt: undefined, victims: [name] },
})
const places = new Map([
  ['m1', at(1, 'ann')],
  ['m2', at(2, 'bob')],
  ['m3', at(3, 'ann')],
])
const toldAt = (destination: string, override: Partial<ReceivedMessages> = {}): ReceivedMessages => ({
  destination,
  members: new Set(['ann', 'bob']),
  requests: taken(4),
  repeatedValues: [],
  ...override,
})
const many = Array.from({ length: 301 }, (_, index) => `n${index}`)
const copiedPlaces = new Map([...places, ['m1', at(1, 'ann', 2)]])
const nothingWrong: AudienceEvidence = {
  limits: { settledMs: 10_000, latestMs: 10_000 },
  patience: 1,
  expectedMembers: new Set(['ann', 'bob']),
  changes: 4,
  received: [toldAt('crm'), toldAt('moody')],
  settled: [
    { list: 'the first list', afterMs: 2_000.4 },
    { list: 'the changed list', afterMs: 9_000 },
  ],
  syncStatuses: { inFlight: 0, unknown: 0, different: 0 },
  deadLettered: 0,
  places,
  injected: [],
  retried: new Map(),
  probes: { restarts: [], longestUnreadyMs: 0, unready: [] },
  problems: [],
}

interface Case {
  readonly name: string
  readonly evidence: Partial<AudienceEvidence>
  readonly figures?: Record<string, unknown>
  readonly failures?: readonly unknown[]
}

const cases: readonly Case[] = [
  {
    name: 'holds when each destination has the list, with one message per change',
    evidence: {},
    figures: {
      sent: 8,
      delivered: 8,
      waiting: 0,
      deadLettered: 0,
      lost: 0,
      duplicates: 0,
      recoveryMs: 9_000,
      orderedPairs: 2,
      reversed: 0,
    },
  },
  {
    name: 'fails duplicates when no process was killed',
    evidence: { received: [toldAt('crm', withMore(...by('d2', 2_000, 'm1'))), toldAt('moody')] },
    figures: { delivered: 8, duplicates: 1, duplicated: { bySender: 0, inProgress: 0, ours: 1 } },
    failures: ['duplicated without a known cause: 1 (crm m1 by d1, 900 ms later by d2)'],
  },
  {
    name: 'explains duplicates by a killed dispatcher and by a second record',
    evidence: {
      received: [toldAt('crm', withMore(...by('d2', 2_000, 'm1'), ...by('d2', 7_000, 'm1')))],
      places: copiedPlaces,
      injected: [kill('a1'), kill('d1')],
    },
    figures: { duplicated: { bySender: 1, inProgress: 1, ours: 0 } },
  },
  {
    name: 'explains a duplicate by a retry record that a killed dispatcher had not committed',
    evidence: {
      received: [toldAt('crm', withMore(...by('d3', 9_000, 'm1')))],
      injected: [kill('d2', 8_000)],
      retried: new Map([['crm m1', { writtenAt: [7_900] }]]),
    },
    figures: { duplicated: { bySender: 0, inProgress: 1, ours: 0 } },
  },
  {
    name: 'explains no duplicate of another process or of an earlier time by a killed dispatcher',
    evidence: {
      received: [toldAt('crm', withMore(...by('d3', 9_000, 'm1')))],
      injected: [kill('a1'), kill('d2'), kill('d1', 8_000)],
    },
    figures: { duplicated: { bySender: 0, inProgress: 0, ours: 1 } },
    failures: [expect.stringMatching(/^duplicated without a known cause: 1 \(crm m1 by d1 /)],
  },
  {
    name: 'fails more duplicates than the victims explain',
    evidence: {
      changes: 305,
      received: [toldAt('crm', withMore(...by('d1', 1_100, ...many), ...by('d2', 2_000, ...many)))],
      injected: [kill('d1')],
    },
    failures: ['duplicates that 1 killed dispatchers had in progress: 301, limit 300'],
  },
  {
    name: 'fails a second record of an audiences process that was not killed',
    evidence: { received: [toldAt('crm', withMore(...by('d2', 2_000, 'm1')))], places: copiedPlaces },
    failures: ['duplicates that 0 killed or disconnected audiences processes wrote again: 1, limit 0'],
  },
  {
    name: 'fails a late message',
    evidence: {
      received: [toldAt('crm', { requests: [...taken(3), ...by('d1', 1_100, 'm5')] }), toldAt('moody')],
      places: new Map([...places, ['m5', { ...at(5, 'cem'), writtenAt: -9_000 }]]),
    },
    figures: { latestMs: 10_100 },
    failures: ['the slowest delivery took 10100 ms, limit 10000 ms'],
  },
  {
    name: 'fails a process that is not ready for too long',
    evidence: { probes: { restarts: [], longestUnreadyMs: 15_001, unready: [] } },
    figures: { unreadyMs: 15_001 },
    failures: ['a process was not ready for 15001 ms, limit 15000 ms'],
  },
  {
    name: 'fails a restart by the liveness probe and a process that is not ready',
    evidence: { probes: { restarts: ['a1: 503'], longestUnreadyMs: 0, unready: ['d1'] } },
    failures: ['restarted by its liveness probe: a1: 503', 'not ready at the end: d1'],
  },
  {
    name: 'fails a missing member',
    evidence: { received: [toldAt('crm', { members: new Set(['bob']), requests: taken(3) }), toldAt('moody')] },
    figures: { delivered: 7, lost: 1 },
    failures: ['endpoints that differ from the last list: 1 (crm lacks ann)', 'crm got 3 of 4 changes'],
  },
  {
    name: 'fails a member that should be removed',
    evidence: { received: [toldAt('crm'), toldAt('moody', { members: new Set(['ann', 'bob', 'cem']) })] },
    figures: { lost: 1 },
    failures: ['endpoints that differ from the last list: 1 (moody still has cem)'],
  },
  {
    name: 'names only some of many wrong members',
    evidence: { received: [toldAt('crm', { members: new Set() }), toldAt('moody', { members: new Set() })] },
    figures: { lost: 4 },
    failures: ['endpoints that differ from the last list: 4 (crm lacks ann; crm lacks bob; moody lacks ann; …)'],
  },
  {
    name: 'fails an unchanged value under another id',
    evidence: { received: [toldAt('crm', { requests: taken(5), repeatedValues: ['ann'] })] },
    figures: { sent: 4, delivered: 5, lost: 0 },
    failures: ['values that did not change, but were sent again: 1 (crm ann)', 'crm got 5 of 4 changes'],
  },
  {
    name: 'fails unnecessary changes with the right result',
    evidence: { received: [toldAt('crm', { requests: taken(6) })] },
    failures: ['crm got 6 of 4 changes'],
  },
  {
    name: 'fails changes of one user in the wrong order',
    evidence: { received: [toldAt('crm', { requests: by('d1', 1_100, 'm3', 'm2', 'm1', 'm4') }), toldAt('moody')] },
    figures: { orderedPairs: 2, reversed: 1 },
    failures: ['out of order for their user: 1 (crm m1 of ann)'],
  },
  {
    name: 'fails a run in which the order cannot be judged',
    evidence: { places: new Map() },
    figures: { orderedPairs: 0 },
    failures: ['no two messages of one user, so order cannot be judged'],
  },
  {
    name: 'fails a list that settles too late',
    evidence: { settled: [{ list: 'the first list', afterMs: 10_001 }] },
    figures: { recoveryMs: 10_001 },
    failures: ['the first list: the endpoints had the whole list after 10001 ms, limit 10000 ms'],
  },
  {
    name: 'gives a busy machine more time',
    evidence: { settled: [{ list: 'the first list', afterMs: 10_001 }], patience: 2 },
  },
  {
    name: 'fails a list that never settles',
    evidence: { settled: [...nothingWrong.settled, { list: 'the same list again', afterMs: null }] },
    figures: { recoveryMs: null },
    failures: ['the same list again: the endpoints did not get the whole list within the time limit'],
  },
  {
    name: 'fails a sync status that differs from the endpoints',
    evidence: { syncStatuses: { inFlight: 1, unknown: 2, different: 3 } },
    figures: { waiting: 1 },
    failures: [
      'memberships with the sync status inFlight at the end: 1',
      'memberships with the sync status unknown at the end: 2',
      'memberships with the sync status different at the end: 3',
    ],
  },
  {
    name: 'fails a dead-lettered change',
    evidence: { deadLettered: 2 },
    figures: { deadLettered: 2 },
    failures: ['dead-lettered although every endpoint works: 2'],
  },
  {
    name: 'fails on other observed problems',
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

  it('reports the latest message, but no pause and no collectors', () => {
    expect(judgeAudience(nothingWrong)).toMatchObject({ latestMs: 100, pauseMs: null, intake: null })
  })
})
