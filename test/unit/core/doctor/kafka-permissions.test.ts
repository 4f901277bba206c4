import { describe, expect, it } from '@jest/globals'
import { type AccessNeeds, accessNeeded } from '../../../../src/core/doctor/kafka-permissions.ts'
import type { ServiceName } from '../../../../src/core/settings/service-names.ts'
import { durationMs } from '../../../../src/core/time.ts'
import { topicNames } from '../../../../src/core/topics.ts'

const asked = (services: readonly ServiceName[], change: Partial<AccessNeeds> = {}): string[] =>
  accessNeeded({
    ...{
      topics: topicNames('h'),
      tiers: [durationMs(10_000)],
      hasOperatorKey: false,
      hasAttempts: false,
      hasCanary: false,
    },
    services: new Set(services),
    ...change,
  }).map(({ to, name }) => `${to} ${name}`)

describe('the required rights', () => {
  it.each<[string, string[], string[]]>([
    [
      'collector',
      asked(['collector']),
      ['read h.suppressions', 'write h.events', 'write h.rejected', 'write h.status'],
    ],
    [
      'collector with the deprecated operator API',
      asked(['collector'], { hasOperatorKey: true }),
      [
        ...['suppressions', 'audience-input', 'deletions'].map(name => `read h.${name}`),
        ...['events', 'rejected', 'status', 'audience-input', 'suppressions', 'deletions'].map(
          name => `write h.${name}`,
        ),
      ],
    ],
    [
      'dispatcher',
      asked(['dispatcher']),
      [
        ...['events', 'retry.10s', 'suppressions'].map(name => `read h.${name}`),
        ...['retry.10s', 'dead-letter', 'audience-input', 'deletions', 'suppressions', 'status', 'ledger'].map(
          name => `write h.${name}`,
        ),
        ...['join h.dispatcher', 'join h.retries'],
      ],
    ],
    [
      'audiences',
      asked(['audiences']),
      [
        ...['audience-input', 'audience-memberships', 'suppressions'].map(name => `read h.${name}`),
        ...['events', 'audience-memberships', 'dead-letter', 'status'].map(name => `write h.${name}`),
        'join h.audiences',
      ],
    ],
    [
      'operator',
      asked(['operator']),
      [
        ...[
          'suppressions',
          'audience-input',
          'deletions',
          'retry.10s',
          'ledger',
          'events',
          'dead-letter',
          'audience-memberships',
          'status',
        ].map(name => `read h.${name}`),
        ...['events', 'audience-input', 'suppressions', 'deletions', 'status'].map(name => `write h.${name}`),
        ...['join h.dispatcher', 'join h.retries', 'join h.audiences'],
      ],
    ],
  ])('%s', (_, needed, expected) => {
    expect(needed).toEqual(expected)
  })

  it('include the attempts topic only for a service that uses it', () => {
    expect(asked(['dispatcher'], { hasAttempts: true })).toContain('write h.attempts')
    expect(asked(['operator'], { hasAttempts: true })).toContain('read h.attempts')
    expect(asked(['collector', 'audiences'], { hasAttempts: true })).not.toContain('write h.attempts')
  })

  it('include the events topic for a service that writes canary messages', () => {
    expect(asked(['dispatcher'], { hasCanary: true })).toContain('write h.events')
    expect(asked(['audiences'], { hasCanary: true })).toEqual(asked(['audiences']))
  })

  it('include the events topic for a service that writes notices', () => {
    expect(asked(['dispatcher'], { hasNotices: true })).toEqual(asked(['dispatcher'], { hasCanary: true }))
    expect(asked(['audiences'], { hasNotices: true })).toEqual(asked(['audiences']))
  })

  it('list each right once for several services', () => {
    const all = asked(['collector', 'dispatcher', 'audiences'])
    expect(new Set(all).size).toBe(all.length)
    for (const service of ['collector', 'dispatcher', 'audiences'] as const)
      expect(all).toEqual(expect.arrayContaining(asked([service])))
  })
})
