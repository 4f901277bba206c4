import { describe, expect, it } from '@jest/globals'
import type { Registry } from '../../../../../src/adapters/avro/schema-registry.ts'
import { doctorCommand } from '../../../../../src/app/commands/doctor/doctor.ts'
import { examine, type Instruments } from '../../../../../src/app/commands/doctor/examine.ts'
import { loadSettings } from '../../../../../src/app/load-settings.ts'
import type { Finding } from '../../../../../src/core/doctor/finding.ts'
import type { ServiceName } from '../../../../../src/core/settings/service-names.ts'
import { durationMs } from '../../../../../src/core/time.ts'
import { topicConfig, topicSpecs } from '../../../../../src/core/topics.ts'
import { configFolder } from '../../../../support/config/config-folder.ts'
import { smallConfiguration } from '../../../../support/config/small-configuration.ts'
import { destination } from '../../../../support/dispatcher/harness.ts'
import { ManualClock } from '../../../../support/manual-clock.ts'
import { createTestIo, runCommand } from '../../../../support/process/in-process-command.ts'

const never = new Promise<never>(() => {})
const file = `${await configFolder({ 'hookline.yaml': smallConfiguration() })}/hookline.yaml`

const settings = await loadSettings({ config: file }, createTestIo())

/** All checks of `hookline doctor` succeed, unless `change` replaces a function. */
function instruments(change: Partial<Instruments> = {}, clock = new ManualClock()): Instruments {
  const specs = topicSpecs({ prefix: 'acme', partitions: 12, replicationFactor: 3 }, [durationMs(10_000)])
  const described = specs.map(spec => ({ ...spec, config: topicConfig(spec) }))
  return {
    cluster: {
      connect: async () => ({ unsupported: [] }),
      advertisedListeners: async () => ['127.0.0.1:9092'],
      deniedAccess: async () => new Set(),
      readClock: async () => ({ before: 1, after: 3, appended: 2 }),
    },
    admin: {
      listTopics: async () => specs.map(({ name }) => name),
      describe: async names => described.filter(({ name }) => names.includes(name)),
      create: async () => {},
      close: async () => {},
    },
    registry: {
      lookUp: async () => ({ id: 1, version: 1 }),
      compatibility: async () => 'BACKWARD_TRANSITIVE',
    } as Partial<Registry> as Registry,
    endpoints: {
      dial: async () => ({ kind: 'connected', address: '203.0.113.4', tookMs: 5, tls: undefined }),
      close: () => {},
    },
    clock,
    ...change,
  }
}

async function run(given: Instruments, ...argv: string[]) {
  let closed = 0
  const open = () => ({ ...given, close: () => void closed++ })
  const load = async () => (io: Parameters<typeof doctorCommand>[0]) => doctorCommand(io, open)
  const result = await runCommand(['doctor', '--config', file, ...argv], {}, [{ name: 'doctor', summary: '', load }])
  expect(closed).toBe(1)
  return result
}

describe('hookline doctor', () => {
  it('prints one line per check and exits with 0 when all succeed', async () => {
    const { code, out, err } = await run(instruments())
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out.trimEnd().split('\n')).toEqual([
      'ok    configuration: 2 sources, 1 destination, 1 webhook',
      'warn  configuration: source server: its messages are not delivered, because no enabled destination receives them; add the id of the source to "sources" of a destination',
      'ok    kafka: 1 broker, reachable at its advertised address',
      'ok    access: this client may read 13 topics, write to 14 topics and join 3 consumer groups',
      'ok    topics: 14 topics with the required settings',
      'ok    registry: 3 schemas registered',
      "ok    clock: this machine's clock agrees with the broker's clock",
      'ok    endpoint crm/0 https://crm.example.com: connected to 203.0.113.4 in 5 ms, without TLS',
      expect.stringMatching(/^ok {4}transport: the HTTP client "got" takes /),
    ])
  })

  it('prints JSON, and exits with 1 when a check fails', async () => {
    const dead = { kind: 'failed', phase: 'connect', code: 'ECONNREFUSED', detail: 'refused' } as const
    const { code, out, err } = await run(
      instruments({ endpoints: { dial: async () => dead, close: () => {} } }),
      '--json',
    )
    expect({ code, err }).toEqual({
      code: 1,
      err: 'hookline: 1 of 9 checks failed; the lines that begin with "fail" say what to do\n',
    })
    const { ok, findings } = JSON.parse(out) as { ok: boolean; findings: Finding[] }
    expect(ok).toBe(false)
    expect(findings.filter(({ level }) => level === 'fail')).toEqual([
      {
        ...{ of: 'endpoint', level: 'fail', which: 'crm/0 https://crm.example.com', detail: 'connect: refused' },
        remedy: 'check that the server is running, and that no firewall blocks this machine',
      },
    ])
  })

  it('with --services collector checks only its topics, no endpoints and no clock', async () => {
    const { code, out } = await run(instruments(), '--services', 'collector')
    expect(code).toBe(0)
    expect(out).not.toMatch(/endpoint|transport|clock/)
    expect(out).toContain('access: this client may read 1 topic, write to 3 topics and join 0 consumer groups')
    expect(out).toContain('topics: 6 topics with the required settings')
  })
})

describe('examine', () => {
  const look = (given: Instruments, services: ServiceName[] = ['collector', 'dispatcher', 'audiences']) =>
    examine({ settings, services: new Set(services) }, given, durationMs(15_000))
  const linesOf = (findings: readonly Finding[], of: Finding['of']): string[] =>
    findings.filter(finding => finding.of === of).map(({ level, detail }) => `${level} ${detail}`)

  it('without Kafka skips the checks that need it and runs the others', async () => {
    const connect = async () => Promise.reject(new Error('refused'))
    const findings = await look(instruments({ cluster: { ...instruments().cluster, connect } }))
    expect(linesOf(findings, 'kafka')).toEqual(['fail refused'])
    expect(new Set(findings.map(({ of }) => of))).toEqual(
      new Set(['configuration', 'kafka', 'registry', 'endpoint', 'transport']),
    )
  })

  it('fails for a topic whose partitions Hookline cannot read or write', async () => {
    const { admin } = instruments()
    const describe = async (names: readonly string[]) =>
      (await admin.describe(names)).map(topic =>
        topic.name === 'acme.events' ? { ...topic, leaderless: 6, underMinIsr: 1 } : topic,
      )
    const findings = await look(instruments({ admin: { ...admin, describe } }))
    expect(findings.filter(({ of, level }) => of === 'topics' && level === 'fail')).toEqual([
      {
        ...{ of: 'topics', level: 'fail', which: 'acme.events' },
        detail: 'partitions without a leader: 6 of 12, so Hookline can neither read nor write them',
        remedy:
          'start the brokers that have the replicas of these partitions; to list the partitions, run: kafka-topics.sh --describe --unavailable-partitions',
      },
      {
        ...{ of: 'topics', level: 'fail', which: 'acme.events' },
        detail:
          'partitions with fewer in-sync replicas than min.insync.replicas: 1 of 12, so Kafka refuses writes to them',
        remedy:
          'start the brokers that have the replicas of these partitions, or wait until the replicas are in sync; to list the partitions, run: kafka-topics.sh --describe --under-min-isr-partitions',
      },
    ])
  })

  it('fails only the checks that exceed the time limit', async () => {
    const clock = new ManualClock()
    const given = instruments(
      {
        admin: { ...instruments().admin, describe: () => never },
        registry: { ...instruments().registry, lookUp: () => never },
        endpoints: { dial: () => never, close: () => {} },
      },
      clock,
    )
    const looking = look(given)
    await clock.advance(durationMs(15_000), async () => {
      await new Promise(resolve => setImmediate(resolve))
    })
    const findings = await looking
    for (const hung of ['topics', 'registry', 'endpoint'] as const)
      expect(linesOf(findings, hung)).toEqual([
        'fail the check did not finish within 15s; check the network, then run the command again',
      ])
    expect(linesOf(findings, 'access')).toEqual([
      'ok this client may read 8 topics, write to 14 topics and join 3 consumer groups',
    ])
  })

  it('rounds the time limit to seconds', async () => {
    const clock = new ManualClock()
    const given = instruments({ registry: { ...instruments().registry, lookUp: () => never } }, clock)
    const looking = examine({ settings, services: new Set(['collector']) }, given, durationMs(7_997.130239))
    await clock.advance(durationMs(8_000))
    expect(linesOf(await looking, 'registry')).toEqual([
      'fail the check did not finish within 8s; check the network, then run the command again',
    ])
  })

  it('dials at most 400 endpoints concurrently', async () => {
    const waiting: (() => void)[] = []
    let most = 0
    const given = instruments({
      endpoints: {
        close: () => {},
        dial: () =>
          new Promise(resolve => {
            waiting.push(() => resolve({ kind: 'connected', address: 'a', tookMs: 1, tls: undefined }))
            most = Math.max(most, waiting.length)
          }),
      },
    })
    const destinations = Array.from({ length: 1_000 }, (_, index) => destination(`d${index}`))
    const looking = examine(
      { settings: { ...settings, destinations }, services: new Set(['dispatcher']) },
      given,
      durationMs(15_000),
    )
    let isDone = false
    void looking.then(() => (isDone = true))
    while (!isDone) {
      await new Promise(resolve => setImmediate(resolve))
      for (const answer of waiting.splice(0)) answer()
    }
    expect(linesOf(await looking, 'endpoint')).toHaveLength(1_000)
    expect(most).toBe(400)
  })
})
