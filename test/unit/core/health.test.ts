import { describe, expect, it } from '@jest/globals'
import {
  type AudiencesVitals,
  allHealth,
  audiencesHealth,
  type CollectorVitals,
  collectorHealth,
  configurationHealth,
  type DispatcherVitals,
  dispatcherHealth,
  type Health,
  type OperatorPhase,
  operatorHealth,
  type ReloadState,
} from '../../../src/core/health.ts'
import { epochMs } from '../../../src/core/time.ts'

const well: DispatcherVitals = {
  phase: 'joined',
  silenceMs: 20,
  inactivityMs: 20,
  holdsLease: true,
  oldestInProgressMs: 0,
  sinceLastRequestEndMs: 100,
  isSchemaMissing: false,
  unwritableTopics: [],
  suppressionList: { isCurrent: true, ageMs: 500 },
}

/** A record has been in progress for a day, and no request has ended in this time. */
const dayLong = { oldestInProgressMs: 86_400_000, sinceLastRequestEndMs: 86_400_000 }

const failing = ({ live, ready }: Health): { live: string[]; ready: string[] } => {
  const failed = (checks: Health['live']): string[] => checks.filter(check => !check.ok).map(check => check.name)
  return { live: failed(live), ready: failed(ready) }
}

describe('dispatcherHealth', () => {
  it.each<[string, Partial<DispatcherVitals>, { live: string[]; ready: string[] }]>([
    ['all well', {}, { live: [], ready: [] }],
    ['still joining', { phase: 'joining' }, { live: [], ready: ['groups'] }],
    ['stopping', { phase: 'stopping' }, { live: [], ready: ['groups'] }],
    ['a consumer just below the limit', { inactivityMs: 59_999, silenceMs: 59_999 }, { live: [], ready: [] }],
    ['only the group coordinator unreachable', { ...dayLong, holdsLease: false }, { live: [], ready: [] }],
    ['a record that waits for the schema registry', { ...dayLong, isSchemaMissing: true }, { live: [], ready: [] }],
    [
      'records that wait for the suppression list',
      { ...dayLong, suppressionList: { isCurrent: false, ageMs: 3_600_000 } },
      { live: [], ready: ['deletions'] },
    ],
    [
      'the suppression list is not current',
      { suppressionList: { isCurrent: false, ageMs: 5_000 } },
      { live: [], ready: ['deletions'] },
    ],
  ])('%s', (_name, vitals, expected) => {
    expect(failing(dispatcherHealth({ ...well, ...vitals }))).toEqual(expected)
  })
})

it('says that the suppression list has not been read yet', () => {
  const suppressionList = { isCurrent: false, ageMs: Number.POSITIVE_INFINITY }
  expect(dispatcherHealth({ ...well, suppressionList }).ready.at(-1)?.detail).toBe(
    'the suppression list (deleted users) has not been read yet; no delivery attempt starts until this process has read all deletions',
  )
})

describe('audiencesHealth', () => {
  const restored: AudiencesVitals = {
    ...{ phase: 'joined', silenceMs: 20, inactivityMs: 20 },
    ...{ partitions: 2, restored: 2, unwritableTopics: [] },
  }
  it.each<[string, Partial<AudiencesVitals>, { live: string[]; ready: string[] }]>([
    ['all well', {}, { live: [], ready: [] }],
    ['Kafka unreachable', { silenceMs: 86_400_000, inactivityMs: 10_000 }, { live: [], ready: ['audience group'] }],
    ['a consumer without contact or attempts', { inactivityMs: 60_000 }, { live: ['audience consumer'], ready: [] }],
  ])('%s', (_name, vitals, expected) => {
    expect(failing(audiencesHealth({ ...restored, ...vitals }))).toEqual(expected)
  })
})

describe('collectorHealth', () => {
  it.each<[string, Partial<CollectorVitals>, string[]]>([
    ['all well', {}, []],
    ['not listening yet', { phase: 'starting' }, ['collector']],
    ['draining', { phase: 'draining' }, ['collector']],
    ['stopping', { phase: 'stopping' }, ['collector']],
    ['Kafka has just failed', { outage: { lastedMs: 14_999, seenMsAgo: 0 } }, []],
    ['Kafka fails for a while', { outage: { lastedMs: 15_000, seenMsAgo: 1_000 } }, ['kafka']],
    ['the last failure is almost 30 s old', { outage: { lastedMs: 60_000, seenMsAgo: 29_999 } }, ['kafka']],
    ['the last failure is 30 s old', { outage: { lastedMs: 60_000, seenMsAgo: 30_000 } }, []],
  ])('%s', (_name, vitals, ready) => {
    expect(failing(collectorHealth({ phase: 'listening', outage: undefined, ...vitals }))).toEqual({ live: [], ready })
  })
})

describe('operatorHealth', () => {
  it.each<[OperatorPhase, string[]]>([
    ['starting', ['operator']],
    ['listening', []],
    ['stopping', ['operator']],
    ['off', []],
  ])('%s', (phase, ready) => {
    expect(failing(operatorHealth(phase))).toEqual({ live: [], ready })
  })
})

describe('configurationHealth', () => {
  const since = 'in use since 2026-03-01T00:00:00.000Z'
  it.each<[string, ReloadState, string]>([
    ['all settings in use', { kind: 'accepted', needRestart: [] }, since],
    [
      'some settings need a restart',
      { kind: 'accepted', needRestart: ['kafka', 'delivery'] },
      `${since}; changes that need a restart: kafka, delivery`,
    ],
    [
      'refused',
      { kind: 'refused' },
      `${since}; Hookline refused the changed configuration file: correct the problems in the log`,
    ],
  ])('%s: ready', (_, file, detail) => {
    const ready = [{ name: 'configuration', ok: true, detail }]
    expect(configurationHealth(file, epochMs(Date.UTC(2026, 2, 1)))).toEqual({ live: [], ready })
  })
})

it('a process fails when one of its services fails', () => {
  const parts = [
    collectorHealth({ phase: 'starting', outage: undefined }),
    dispatcherHealth({ ...well, inactivityMs: 60_000 }),
  ]
  expect(failing(allHealth(parts))).toEqual({ live: ['consumers'], ready: ['collector'] })
})
