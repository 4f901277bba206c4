import { describe, expect, it } from '@jest/globals'
import { type Access, judgeAccess } from '../../../../src/core/doctor/access.ts'
import {
  type ClockReading,
  type ClusterSeen,
  judgeClock,
  judgeCluster,
  type Reached,
} from '../../../../src/core/doctor/cluster.ts'
import { type Dialled, judgeEndpoint, tellTransport } from '../../../../src/core/doctor/endpoint.ts'
import { inOrder, type Judgement, lineOf } from '../../../../src/core/doctor/finding.ts'
import { judgeSchemas, type SchemaSeen } from '../../../../src/core/doctor/schemas.ts'
import { judgeTopics } from '../../../../src/core/doctor/topic-drift.ts'
import type { CallPhase } from '../../../../src/core/ports.ts'
import { epochMs } from '../../../../src/core/units.ts'

const now = epochMs(Date.UTC(2026, 2, 1))
const day = 86_400_000
const told = (judgements: readonly Judgement[]): string[] => judgements.map(each => lineOf({ of: 'kafka', ...each }))

describe('a line', () => {
  it.each([
    [{ of: 'clock', level: 'ok', detail: 'the same' } as const, 'ok    clock: the same'],
    [
      { of: 'topics', level: 'fail', which: 'a.b', detail: 'gone', remedy: 'make it' } as const,
      'fail  topics a.b: gone; make it',
    ],
  ])('%j', (finding, line) => {
    expect(lineOf(finding)).toBe(line)
  })

  it('stands where its kind does, and those of a kind as they came', () => {
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
    ['in between', reading(10_020), 'ok', "the same as the broker's"],
    ['a little ahead', reading(9_500), 'ok', "0.500 s ahead of the broker's"],
    ['a little behind', reading(11_039), 'ok', "0.999 s behind the broker's"],
    ['behind', reading(11_040), 'warn', "1.000 s behind the broker's"],
    ['ahead', reading(9_000), 'warn', "1.000 s ahead of the broker's"],
    ['far off', reading(70_040), 'fail', "60 s behind the broker's"],
    ['the producer’s own', reading(undefined), 'warn', 'the broker does not tell its time'],
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
    ['plain', connected(), 'ok', '203.0.113.4 connects in 35 ms, without TLS'],
    ['good for long', connected(14), 'ok', '203.0.113.4 connects in 35 ms, TLSv1.3, certificate good for 14 days'],
    ['soon over', connected(13.9), 'warn', '203.0.113.4 connects in 35 ms, TLSv1.3, certificate good for 13 days'],
    ['over tomorrow', connected(1.5), 'warn', '203.0.113.4 connects in 35 ms, TLSv1.3, certificate good for 1 day'],
    ['private', failed('address', 'ERR_FORBIDDEN_ADDRESS'), 'fail', 'blocked_address: why'],
    ['no such name', failed('dns', 'ENOTFOUND'), 'fail', 'dns: why'],
    ['closed', failed('connect', 'ECONNREFUSED'), 'fail', 'connect: why'],
    ['dropped', failed('deadline', 'ETIMEDOUT'), 'fail', 'timeout: why'],
    ['closes at once', failed('exchange', 'ECONNRESET'), 'fail', 'reset: why'],
    ['self-signed', failed('tls', 'DEPTH_ZERO_SELF_SIGNED_CERT'), 'fail', 'tls_untrusted: why'],
    ['expired', failed('tls', 'CERT_HAS_EXPIRED'), 'fail', 'tls_untrusted: why'],
    ['no TLS there', failed('tls', 'ERR_SSL_WRONG_VERSION_NUMBER'), 'fail', 'tls_other: why'],
  ])('%s', (_, dialled, level, detail) => {
    const judgement = judgeEndpoint(dialled, now)
    expect(judgement).toMatchObject({ level, detail })
    expect(judgement.remedy === undefined).toBe(level === 'ok')
  })
})

describe('cluster', () => {
  const reached = (address: string, failure?: string, unsupported: string[] = []): Reached => ({
    ...{ address, failure, unsupported },
  })
  it.each<[string, ClusterSeen, string[]]>([
    [
      'one broker',
      { configured: [reached('a:1')], advertised: [], brokers: 1 },
      ['ok    kafka: 1 broker, reachable at the address that it tells clients to use'],
    ],
    [
      'a name that stands for three',
      { configured: [reached('kafka:1')], advertised: ['a:1', 'b:1', 'c:1'].map(each => reached(each)), brokers: 3 },
      ['ok    kafka: 3 brokers, each reachable at the address that it tells clients to use'],
    ],
    [
      'one of those to begin with is gone',
      { configured: [reached('a:1', 'refused'), reached('b:1')], advertised: [], brokers: 1 },
      [
        'ok    kafka: 1 broker, reachable at the address that it tells clients to use',
        'warn  kafka a:1: refused; the services begin with another broker',
      ],
    ],
    [
      'none is there',
      { configured: [reached('a:1', 'refused'), reached('b:1', 'wrong password')], advertised: [], brokers: undefined },
      ['a:1: refused', 'b:1: wrong password'].map(
        each => `fail  kafka ${each}; check kafka.brokers, kafka.tls and kafka.sasl, and whether it is up`,
      ),
    ],
    [
      'one tells clients to use what they cannot',
      { configured: [reached('a:1')], advertised: [reached('10.0.0.2:1', 'refused')], brokers: 2 },
      [
        'fail  kafka 10.0.0.2:1: refused; the cluster tells clients to use this address: check advertised.listeners, and what filters traffic there',
      ],
    ],
    [
      'a version with which nothing works',
      { configured: [reached('a:1', undefined, ['Fetch', 'Produce'])], advertised: [], brokers: 1 },
      ['fail  kafka a:1: has no version in common with this client of: Fetch, Produce; Kafka 2.1 to 4 will do'],
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
  it('all of it', () => {
    expect(told(judgeAccess(needed, new Set()))).toEqual(['ok    kafka: may read 1 topic, write 1 and join 1 group'])
  })

  it('not all: a line for each that says which ACL is missing', () => {
    expect(told(judgeAccess(needed, new Set(needed)))).toEqual([
      'fail  kafka hookline.events: this client may not read it; an ACL has to allow READ and DESCRIBE on the topic',
      'fail  kafka hookline.dead-letter: this client may not write it; an ACL has to allow WRITE and DESCRIBE on the topic',
      'fail  kafka hookline.dispatcher: this client may not join it; an ACL has to allow READ on the group',
    ])
  })
})

describe('topics', () => {
  it.each([
    ['as they should be', [], ['ok    kafka: 12 topics fit for use']],
    [
      'with a note',
      [{ topic: '*', kind: 'replication', severity: 'note', detail: 'is 1' } as const],
      ['ok    kafka: 12 topics fit for use', 'warn  kafka: is 1'],
    ],
    [
      'missing',
      [{ topic: 'a.events', kind: 'missing', severity: 'error', detail: 'does not exist' } as const],
      ['fail  kafka a.events: does not exist; create it with: hookline topics apply'],
    ],
    [
      'with another policy, which no command of ours changes',
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
    ['absent', ['fail  kafka s: absent: so; put it right with: hookline schemas register']],
    ['outdated', ['fail  kafka s: outdated: so; put it right with: hookline schemas register']],
    ['unprotected', ['warn  kafka s: unprotected: so; put it right with: hookline schemas register']],
    ['incompatible', ['fail  kafka s: incompatible: so; another program or a newer version wrote it']],
  ] as const)('%s', (state, lines) => {
    expect(told(judgeSchemas([schema(state)]))).toEqual(lines)
  })
})

it.each([
  ['got', 'got: some 170 µs of CPU a delivery; delivery.transport: undici takes some 60, and promises the same'],
  ['undici', 'undici: some 60 µs of CPU a delivery; delivery.transport: got takes some 170, and promises the same'],
] as const)('transport %s', (chosen, detail) => {
  expect(tellTransport(chosen)).toEqual({ level: 'ok', detail })
})
