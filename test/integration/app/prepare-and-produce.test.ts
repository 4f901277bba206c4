import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { createEventCodec, eventSchema } from '../../../src/adapters/avro/event-codec.ts'
import { createRegistry } from '../../../src/adapters/avro/schema-registry.ts'
import { processClock } from '../../../src/adapters/clock/process-clock.ts'
import { createKafka } from '../../../src/adapters/kafka/kafkajs/client.ts'
import { createAdmin } from '../../../src/adapters/kafka/log/topic-admin.ts'
import { createReader } from '../../../src/adapters/kafka/log/topic-reader.ts'
import { type Event, keyOf } from '../../../src/core/message/event.ts'
import { callTypes } from '../../../src/core/message/message.ts'
import { partitionFor } from '../../../src/core/message/partition-for-key.ts'
import type { LogRecord } from '../../../src/core/ports.ts'
import { configFolder } from '../../support/config/config-folder.ts'
import { smallConfiguration } from '../../support/config/small-configuration.ts'
import { runCommand } from '../../support/process/in-process-command.ts'
import { silent } from '../../support/telemetry/silent-logger.ts'

const prefix = `first-${randomUUID()}`
const eventsTopic = `${prefix}.events`
const kafka = createKafka(
  { brokers: process.env['KAFKA_BROKERS']?.split(',') ?? [], clientId: 'test', tls: undefined, sasl: undefined },
  silent,
)
const registry = createRegistry({ url: process.env['SCHEMA_REGISTRY_URL'] ?? '', auth: undefined })
const env: Record<string, string> = {}

async function configOf(forPrefix: string): Promise<string> {
  const yaml = smallConfiguration({ prefix: forPrefix, replicationFactor: 1, partitions: 3 })
  return `${await configFolder({ 'hookline.yaml': yaml })}/hookline.yaml`
}

beforeAll(async () => {
  // The addresses in the environment replace those of the configuration.
  for (const name of ['KAFKA_BROKERS', 'SCHEMA_REGISTRY_URL']) env[name] = process.env[name] as string
  env['HOOKLINE_CONFIG'] = await configOf(prefix)
})

const hookline = (line: string, stdin?: string) =>
  runCommand(line.split(' '), { env, ...(stdin !== undefined && { stdin }) })

async function eventsOnTopic(): Promise<{ record: LogRecord; event: Event }[]> {
  const codec = await createEventCodec({ registry, eventsTopic, clock: processClock })
  const found: { record: LogRecord; event: Event }[] = []
  await createReader({ kafka, logger: silent, clock: processClock }).readToEnd(eventsTopic, record => {
    const decoded = codec.decode(record.value as Buffer, record.timestamp)
    if (decoded.kind !== 'event') throw new Error(decoded.kind)
    found.push({ record, event: decoded.event })
  })
  return found
}

describe('a first deployment', () => {
  it('starts without topics', async () => {
    const { code, out, err } = await hookline('topics check')
    expect(code).toBe(1)
    expect(out).toContain(`error ${eventsTopic} does not exist`)
    expect(err).toContain('hookline topics apply')
  })

  it('creates topics once', async () => {
    expect(await hookline('topics apply')).toMatchObject({ code: 0, err: '' })
    const { out } = await hookline('topics apply --json')
    expect(JSON.parse(out).topics.map(({ result }: { result: string }) => result)).toEqual(Array(14).fill('exists'))
    const { code, out: checked } = await hookline('topics check')
    expect(code).toBe(0)
    expect(checked).toMatch(/^note \* topics\.replicationFactor is 1.*\n14 topics are ready\n$/)
  })

  it('creates topics as specified', async () => {
    const admin = createAdmin(kafka)
    const [events, deadLetter] = await admin
      .describe([eventsTopic, `${prefix}.dead-letter`])
      .finally(() => admin.close())
    const retention = { 'retention.ms': String(7 * 24 * 3_600_000), 'message.timestamp.type': 'LogAppendTime' }
    expect(events).toMatchObject({
      partitions: 3,
      replicationFactor: 1,
      config: { 'cleanup.policy': 'delete', ...retention },
    })
    expect(deadLetter?.config['cleanup.policy']?.split(',').sort()).toEqual(['compact', 'delete'])
  })

  const subjects = ['events', 'audience-input', 'audience-memberships'].map(topic => `${prefix}.${topic}-value`)

  it('fails to produce without a schema', async () => {
    expect(await hookline('schemas check')).toMatchObject({
      code: 1,
      out: subjects.map(subject => `${subject} absent: no version is registered\n`).join(''),
    })
    const { code, err } = await hookline('produce')
    expect(code).toBe(1)
    expect(err).toContain(`not registered under ${eventsTopic}-value`)
    expect(err).toContain('hookline schemas register')
  })

  it('registers schemas once', async () => {
    const first = await hookline('schemas register')
    expect(first).toMatchObject({ code: 0, err: '' })
    const lines = subjects.map(subject =>
      expect.stringMatching(new RegExp(`^${subject}: registered as version 1, id \\d+$`)),
    )
    expect(first.out.trimEnd().split('\n')).toEqual(lines)
    expect(await hookline('schemas register')).toEqual(first)
    const { code, out } = await hookline('schemas check --json')
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({
      fit: true,
      schemas: subjects.map(subject => ({ subject, state: 'registered' })),
    })
  })

  it('produces a sample load, each user in one partition', async () => {
    const { code, err } = await hookline('produce --count 600 --users 20')
    expect({ code, err }).toEqual({ code: 0, err: '' })
    const found = await eventsOnTopic()
    expect(found.length).toBe(600)
    expect(new Set(found.map(({ event }) => event.message.type))).toEqual(new Set(callTypes))
    for (const { record, event } of found) {
      expect(String(record.key)).toBe(keyOf(event.message))
      expect(record.partition).toBe(partitionFor(record.key as Buffer, 3))
    }
  })
})

describe('other states of the registry and the topics', () => {
  it.each([
    ['register', 'rejected the schema of'],
    ['check', 'another program or a newer version of Hookline registered an incompatible schema'],
  ])('a schema that is incompatible with that of Hookline: schemas %s', async (command, message) => {
    const other = `other-${randomUUID()}`
    await registry.setBackwardTransitive(`${other}.events-value`)
    const theirs = { type: 'record', name: 'Event', namespace: 'hookline', fields: [{ name: 'text', type: 'string' }] }
    await registry.register(`${other}.events-value`, JSON.stringify(theirs))
    const { code, err } = await runCommand(['schemas', command], {
      env: { ...env, HOOKLINE_CONFIG: await configOf(other) },
    })
    expect(code).toBe(1)
    expect(err).toContain(message)
  })

  it('a schema without a compatibility level: register sets it', async () => {
    const other = `other-${randomUUID()}`
    const under = { env: { ...env, HOOKLINE_CONFIG: await configOf(other) } }
    await registry.register(`${other}.events-value`, eventSchema)
    const { code, out } = await runCommand(['schemas', 'check'], under)
    expect(code).toBe(1)
    expect(out).toMatch(/events-value unprotected: .*compatibility .+ BACKWARD_TRANSITIVE or FULL_TRANSITIVE\n/)
    await runCommand(['schemas', 'register'], under)
    expect((await runCommand(['schemas', 'check'], under)).code).toBe(0)
  })

  it('an unreachable registry', async () => {
    const { code, err } = await runCommand(['schemas', 'check'], {
      env: { ...env, SCHEMA_REGISTRY_URL: 'http://127.0.0.1:1' },
    })
    expect(code).toBe(1)
    expect(err).toMatch(/^hookline: the schema registry at http:\/\/127\.0\.0\.1:1 cannot be used: .*ECONNREFUSED.*\n$/)
  })

  it('an unreachable Kafka', async () => {
    const { code, out, err } = await runCommand(['topics', 'check'], { env: { ...env, KAFKA_BROKERS: '127.0.0.1:1' } })
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toMatch(/^hookline: cannot describe topics: .*ECONNREFUSED.*\n$/)
  })
})
