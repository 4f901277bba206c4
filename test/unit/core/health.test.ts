import { describe, expect, it } from '@jest/globals'
import {
  allHealth,
  type CollectorVitals,
  type ConfigurationFile,
  collectorHealth,
  configurationHealth,
  type DispatcherVitals,
  dispatcherHealth,
  type Health,
} from '../../../src/core/health.ts'
import { epochMs } from '../../../src/core/units.ts'

const well: DispatcherVitals = {
  phase: 'joined',
  silenceMs: 20,
  oldestOpenMs: 0,
  unwritableTopics: [],
  marks: { isCurrent: true, ageMs: 500 },
}

/** The names of what fails. */
const failing = ({ live, ready }: Health): { live: string[]; ready: string[] } => {
  const failed = (checks: Health['live']): string[] => checks.filter(check => !check.ok).map(check => check.name)
  return { live: failed(live), ready: failed(ready) }
}

describe('dispatcherHealth', () => {
  it.each<[string, Partial<DispatcherVitals>, { live: string[]; ready: string[] }]>([
    ['all well', {}, { live: [], ready: [] }],
    ['still joining', { phase: 'joining' }, { live: [], ready: ['groups'] }],
    ['stopping', { phase: 'stopping' }, { live: [], ready: ['groups'] }],
    ['a consumer that hears nothing', { silenceMs: 60_000 }, { live: ['consumers'], ready: [] }],
    ['a record lost track of', { oldestOpenMs: 15 * 60_000 }, { live: ['progress'], ready: [] }],
    [
      'records that wait for an unwritable topic',
      { oldestOpenMs: 60 * 60_000, unwritableTopics: ['hookline.retry.10s'] },
      { live: [], ready: ['topics'] },
    ],
    ['who was deleted is not known', { marks: { isCurrent: false, ageMs: 5_000 } }, { live: [], ready: ['deletions'] }],
  ])('%s', (_name, vitals, expected) => {
    expect(failing(dispatcherHealth({ ...well, ...vitals }))).toEqual(expected)
  })
})

describe('collectorHealth', () => {
  it.each<[string, Partial<CollectorVitals>, string[]]>([
    ['all well', {}, []],
    ['not listening yet', { phase: 'starting' }, ['collector']],
    ['the last call', { phase: 'last call' }, ['collector']],
    ['stopping', { phase: 'stopping' }, ['collector']],
    ['Kafka has just failed', { outage: { lastedMs: 14_999, seenMsAgo: 0 } }, []],
    ['Kafka fails for a while', { outage: { lastedMs: 15_000, seenMsAgo: 1_000 } }, ['kafka']],
    ['nothing has tried it since', { outage: { lastedMs: 60_000, seenMsAgo: 29_999 } }, ['kafka']],
    ['not for long', { outage: { lastedMs: 60_000, seenMsAgo: 30_000 } }, []],
  ])('%s', (_name, vitals, ready) => {
    expect(failing(collectorHealth({ phase: 'listening', outage: undefined, ...vitals }))).toEqual({ live: [], ready })
  })
})

describe('configurationHealth', () => {
  const since = 'in use since 2026-03-01T00:00:00.000Z'
  it.each<[string, ConfigurationFile, string]>([
    ['all in use', { kind: 'accepted', needRestart: [] }, since],
    [
      'not all of it yet',
      { kind: 'accepted', needRestart: ['kafka', 'delivery'] },
      `${since}; changed, and needs a restart: kafka, delivery`,
    ],
    ['refused', { kind: 'refused' }, `${since}; what the file says now is refused, the log says why`],
  ])('%s: ready all the same', (_, file, detail) => {
    const ready = [{ name: 'configuration', ok: true, detail }]
    expect(configurationHealth(file, epochMs(Date.UTC(2026, 2, 1)))).toEqual({ live: [], ready })
  })
})

it('a process is what all of its services are', () => {
  const parts = [
    collectorHealth({ phase: 'starting', outage: undefined }),
    dispatcherHealth({ ...well, silenceMs: 60_000 }),
  ]
  expect(failing(allHealth(parts))).toEqual({ live: ['consumers'], ready: ['collector'] })
})
