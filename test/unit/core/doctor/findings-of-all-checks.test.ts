import { describe, expect, it } from '@jest/globals'
import {
  type ClockReading,
  type ClusterSeen,
  type ConnectionResult,
  judgeClock,
  judgeCluster,
} from '../../../../src/core/doctor/cluster-and-clock.ts'
import { type Dialled, judgeEndpoint } from '../../../../src/core/doctor/endpoint-and-http-client.ts'
import { formatFinding, inOrder, type Judgement } from '../../../../src/core/doctor/finding.ts'
import { type Access, judgeAccess } from '../../../../src/core/doctor/kafka-permissions.ts'
import { judgeSchemas, type SchemaSeen } from '../../../../src/core/doctor/schemas.ts'
import { judgeTopics } from '../../../../src/core/doctor/topic-drift.ts'
import { epochMs } from '../../../../src/core/time.ts'
import type { CallPhase } from '../../../../src/core/webhook-ports.ts'

const now = epochMs(Date.UTC(2026, 2, 1))
const day = 86_400_000
const told = (judgements: readonly Judgement[]): string[] =>
  judgements.map(each => formatFinding({ of: 'kafka', ...each }))

describe('a line', () => {
  it.each([
    [{ of: 'clock', level: 'ok', detail: 'the same' } as const, 'ok    clock: the same'],
    [
      { of: 'topics', level: 'fail', which: 'a.b', detail: 'gone', remedy: 'make it' } as const,
      'fail  topics a.b: gone; make it',
    ],
  ])('%j', (finding, line) => {
    expect(formatFinding(finding)).toBe(line)
  })

  it('sorts findings by kind, and keeps their order within a kind', () => {
    const findings = (['transport', 'kafka', 'topics', 'kafka'] as const).map((of, index) => ({
      ...{ of, level: 'ok' as const },
      detail: String(index),
    }))
    expect(inOrder(findings).map(({ detail }) => detail)).toEqual(['1', '3', '2', '0'])
  })
})

describe('clock', () => {
  const reading = (appended: number | undefined): ClockReading => ({ before: 10_000, after: 10_040, appended })
  it.each([
    ['equal', reading(10_020), 'ok', "this machine's clock agrees with the broker's clock"],
    ['less than 1 s ahead', reading(9_500), 'ok', "this machine's clock is 0.500 s ahead of the broker's clock"],
    ['less than 1 s behind', reading(11_039), 'ok', "this machine's clock is 0.999 s behind the broker's clock"],
    ['1 s behind', reading(11_040), 'warn', "this machine's clock is 1.000 s behind the broker's clock"],
    ['1 s ahead', reading(9_000), 'warn', "this machine's clock is 1.000 s ahead of the broker's clock"],
    ['a minute behind', reading(70_040), 'fail', "this machine's clock is 60 s behind the broker's clock"],
    [
      'no append time',
      reading(undefined),
      'warn',
      'cannot compare the clocks of this machine and of the broker, because message.timestamp.type of the dead-letter topic is not LogAppendTime',
    ],
  ])('%s', (_, seen, level, detail) => {
    expect(judgeClock(seen)).toMatchObject({ level, detail })
    expect(judgeClock(seen).remedy === undefined).toBe(level === 'ok')
  })
})

describe('endpoint', () => {
  const connected = (days?: number): Dialled => ({
    ...{ kind: 'connected', address: '203.0.113.4', tookMs: 34.6 },
    tls: days === undefined ? undefined : { protocol: 'TLSv1.3', goodUntil: epochMs(now + days * day) },
  })
  const failed = (phase: CallPhase, code: string): Dialled => ({ kind: 'failed', phase, code, detail: 'why' })
  it.each([
    ['without TLS', connected(), 'ok', 'connected to 203.0.113.4 in 35 ms, without TLS'],
    [
      'valid for 14 days',
      connected(14),
      'ok',
      'connected to 203.0.113.4 in 35 ms, TLSv1.3, certificate valid for 14 days',
    ],
    [
      'under 14 days',
      connected(13.9),
      'warn',
      'connected to 203.0.113.4 in 35 ms, TLSv1.3, certificate valid for 13 days',
    ],
    [
      'valid for a day',
      connected(1.5),
      'warn',
      'connected to 203.0.113.4 in 35 ms, TLSv1.3, certificate valid for 1 day',
    ],
    ['a private address', failed('address', 'ERR_FORBIDDEN_ADDRESS'), 'fail', 'blocked_address: why'],
    ['an unknown host name', failed('dns', 'ENOTFOUND'), 'fail', 'dns: why'],
    ['a closed port', failed('connect', 'ECONNREFUSED'), 'fail', 'connect: why'],
    ['dropped packets', failed('deadline', 'ETIMEDOUT'), 'fail', 'timeout: why'],
    ['closes immediately', failed('exchange', 'ECONNRESET'), 'fail', 'reset: why'],
    ['self-signed', failed('tls', 'DEPTH_ZERO_SELF_SIGNED_CERT'), 'fail', 'tls_untrusted: why'],
    ['expired', failed('tls', 'CERT_HAS_EXPIRED'), 'fail', 'tls_untrusted: why'],
    ['a server without TLS', failed('tls', 'ERR_SSL_WRONG_VERSION_NUMBER'), 'fail', 'tls_other: why'],
  ])('%s', (_, dialled, level, detail) => {
    const judgement = judgeEndpoint(dialled, now)
    expect(judgement).toMatchObject({ level, detail })
    expect(judgement.remedy === undefined).toBe(level === 'ok')
  })
})

describe('cluster', () => {
  const reached = (address: string, failure?: string, unsupported: string[] = []): ConnectionResult => ({
    ...{ address, failure, unsupported },
  })
  it.each<[string, ClusterSeen, string[]]>([
    [
      'one broker',
      { configured: [reached('a:1')], advertised: [], brokers: 1 },
      ['ok    kafka: 1 broker, reachable at its advertised address'],
    ],
    [
      'a name with three addresses',
      { configured: [reached('kafka:1')], advertised: ['a:1', 'b:1', 'c:1'].map(each => reached(each)), brokers: 3 },
      ['ok    kafka: 3 brokers, each reachable at its advertised address'],
    ],
    [
      'one of the configured brokers does not respond',
      { configured: [reached('a:1', 'refused'), reached('b:1')], advertised: [], brokers: 1 },
      [
        'ok    kafka: 1 broker, reachable at its advertised address',
        'warn  kafka a:1: refused; check this broker; the services can start without it, because another broker of kafka.brokers responds',
      ],
    ],
    [
      'no configured broker responds',
      { configured: [reached('a:1', 'refused'), reached('b:1', 'wrong password')], advertised: [], brokers: undefined },
      ['a:1: refused', 'b:1: wrong password'].map(
        each => `fail  kafka ${each}; check kafka.brokers, kafka.tls and kafka.sasl, and whether the broker is running`,
      ),
    ],
    [
      'one advertises an unreachable address',
      { configured: [reached('a:1')], advertised: [reached('10.0.0.2:1', 'refused')], brokers: 2 },
      [
        'fail  kafka 10.0.0.2:1: refused; clients must reach this address, because the broker advertises it: check advertised.listeners of the broker, and firewalls',
      ],
    ],
    [
      'an unsupported version',
      { configured: [reached('a:1', undefined, ['Fetch', 'Produce'])], advertised: [], brokers: 1 },
      ['fail  kafka a:1: lacks the required versions of these Kafka APIs: Fetch, Produce; use Kafka 2.1 to 4'],
    ],
  ])('%s', (_, seen, lines) => {
    expect(told(judgeCluster(seen))).toEqual(lines)
  })
})

describe('access', () => {
  const needed: readonly Access[] = [
    { to: 'read', name: 'hookline.events' },
    { to: 'write', name: 'hookline.dead-letter' },
    { to: 'join', name: 'hookline.dispatcher' },
  ]
  it('all rights', () => {
    expect(told(judgeAccess(needed, new Set()))).toEqual([
      'ok    kafka: this client may read 1 topic, write to 1 topic and join 1 consumer group',
    ])
  })

  it('missing rights: one line for each missing ACL', () => {
    expect(told(judgeAccess(needed, new Set(needed)))).toEqual([
      'fail  kafka hookline.events: this client has no permission to read this topic; add an ACL that allows READ and DESCRIBE on the topic',
      'fail  kafka hookline.dead-letter: this client has no permission to write to this topic; add an ACL that allows WRITE and DESCRIBE on the topic',
      'fail  kafka hookline.dispatcher: this client has no permission to join this consumer group; add an ACL that allows READ on the consumer group',
    ])
  })
})

describe('topics', () => {
  it.each([
    ['as specified', [], ['ok    kafka: 12 topics with the required settings']],
    [
      'with a note',
      [{ topic: '*', kind: 'replication', severity: 'note', detail: 'is 1' } as const],
      ['ok    kafka: 12 topics with the required settings', 'warn  kafka: is 1'],
    ],
    [
      'missing',
      [{ topic: 'a.events', kind: 'missing', severity: 'error', detail: 'does not exist' } as const],
      ['fail  kafka a.events: does not exist; create it with: hookline topics apply'],
    ],
    [
      'with another cleanup policy, which no hookline command changes',
      [{ topic: 'a.events', kind: 'cleanup', severity: 'error', detail: 'has compact' } as const],
      ['fail  kafka a.events: has compact'],
    ],
  ])('%s', (_, drift, lines) => {
    expect(told(judgeTopics(drift, 12))).toEqual(lines)
  })
})

describe('schemas', () => {
  const schema = (state: SchemaSeen['state']): SchemaSeen => ({ subject: 's', state, detail: 'so' })
  it.each([
    ['registered', ['ok    kafka: 1 schema registered']],
    ['absent', ['fail  kafka s: absent: so; to correct this, run: hookline schemas register']],
    ['outdated', ['fail  kafka s: outdated: so; to correct this, run: hookline schemas register']],
    ['unprotected', ['warn  kafka s: unprotected: so; to correct this, run: hookline schemas register']],
    [
      'incompatible',
      [
        'fail  kafka s: incompatible: so; another program or a newer version of Hookline registered an incompatible schema: update Hookline, or use another topics.prefix',
      ],
    ],
  ] as const)('%s', (state, lines) => {
    expect(told(judgeSchemas([schema(state)]))).toEqual(lines)
  })
})
