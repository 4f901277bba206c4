import { describe, expect, it } from '@jest/globals'
import { type DispatcherVitals, dispatcherHealth } from '../../../src/core/health.ts'

const well: DispatcherVitals = { phase: 'joined', silenceMs: 20, oldestOpenMs: 0, unwritableTopics: [] }

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
  ])('%s', (_name, vitals, failing) => {
    const health = dispatcherHealth({ ...well, ...vitals })
    const failed = (checks: typeof health.live): string[] => checks.filter(check => !check.ok).map(check => check.name)
    expect({ live: failed(health.live), ready: failed(health.ready) }).toEqual(failing)
  })
})
