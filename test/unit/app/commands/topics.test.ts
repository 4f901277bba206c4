import { describe, expect, it } from '@jest/globals'
import { KafkaError } from '../../../../src/adapters/kafka/kafkajs/errors.ts'
import { topicsCommand } from '../../../../src/app/commands/topics.ts'
import type { TopicAdmin, TopicDescription } from '../../../../src/core/ports.ts'
import { durationMs } from '../../../../src/core/time.ts'
import { topicConfig, topicSpecs } from '../../../../src/core/topics.ts'
import { configFolder } from '../../../support/config/config-folder.ts'
import { smallConfiguration } from '../../../support/config/small-configuration.ts'
import { runCommand } from '../../../support/process/in-process-command.ts'

const folder = await configFolder({ 'hookline.yaml': smallConfiguration() })
const specs = topicSpecs({ prefix: 'acme', partitions: 12, replicationFactor: 3 }, [durationMs(10_000)])
const asSpecified = specs.map(spec => ({ ...spec, config: topicConfig(spec) }))

class MemoryAdmin implements TopicAdmin {
  readonly topics: TopicDescription[]
  closed = 0

  constructor(topics: readonly TopicDescription[]) {
    this.topics = [...topics]
  }

  async listTopics() {
    return this.topics.map(({ name }) => name)
  }

  async describe(names: readonly string[]) {
    return this.topics.filter(({ name }) => names.includes(name))
  }

  async create(topic: TopicDescription) {
    this.topics.push(topic)
  }

  async close() {
    this.closed += 1
  }
}

async function run(admin: MemoryAdmin, ...argv: string[]) {
  const entry = {
    name: 'topics',
    summary: '',
    load: async () => (io: Parameters<typeof topicsCommand>[0]) => topicsCommand(io, () => admin),
  }
  const result = await runCommand(['topics', ...argv, '--config', `${folder}/hookline.yaml`], {}, [entry])
  expect(admin.closed).toBe(1)
  return result
}

describe('topics apply', () => {
  it('creates missing topics as specified', async () => {
    const admin = new MemoryAdmin([])
    const { code, out, err } = await run(admin, 'apply')
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out.split('\n')).toContain('created acme.retry.30s (12 partitions)')
    expect(admin.topics).toEqual(
      asSpecified.map(({ name, partitions, replicationFactor, config }) => ({
        name,
        partitions,
        replicationFactor,
        config,
      })),
    )
  })

  it('uses the replication factor of --replication-factor', async () => {
    const admin = new MemoryAdmin([])
    expect(await run(admin, 'apply', '--replication-factor', '1')).toMatchObject({ code: 0, err: '' })
    expect(admin.topics[0]).toMatchObject({ replicationFactor: 1, config: { 'min.insync.replicas': '1' } })
  })

  it('names the key and the option of a replication factor that is too high for the cluster', async () => {
    const admin = new MemoryAdmin([])
    const message = 'cannot create topic acme.events: Replication-factor is invalid'
    admin.create = () =>
      Promise.reject(new KafkaError(message, { code: 'INVALID_REPLICATION_FACTOR', retriable: false }))
    expect(await run(admin, 'apply')).toEqual({
      code: 1,
      out: '',
      err: `hookline: ${message}; the replication factor 3 is higher than the number of running brokers: start more brokers, or set topics.replicationFactor or --replication-factor to a lower number\n`,
    })
  })

  it('does not change existing topics, reports their problems and uses their partition count', async () => {
    const events = { ...asSpecified[0]!, partitions: 24, config: { 'cleanup.policy': 'compact' } }
    const admin = new MemoryAdmin([events])
    const { code, out, err } = await run(admin, 'apply', '--json')
    expect(code).toBe(0)
    expect(err).toBe('hookline: misconfigured existing topics: 1; see: hookline topics check\n')
    expect(admin.topics[0]).toBe(events)
    expect(JSON.parse(out).topics.slice(0, 2)).toEqual([
      { topic: 'acme.events', result: 'exists', partitions: 24, replicationFactor: 3 },
      { topic: 'acme.retry.10s', result: 'created', partitions: 24, replicationFactor: 3 },
    ])
    expect(admin.topics.find(({ name }) => name === 'acme.dead-letter')?.partitions).toBe(12)
  })
})

it('topics apply warns of a too small max.message.bytes', async () => {
  const old = asSpecified.map(topic => ({ ...topic, config: { ...topic.config, 'max.message.bytes': '1048588' } }))
  expect(await run(new MemoryAdmin(old), 'apply')).toMatchObject({
    code: 0,
    err: 'hookline: max.message.bytes is too small on 5 topics; see: hookline topics check\n',
  })
})

describe('topics check', () => {
  it('reports that all topics are ready', async () => {
    expect(await run(new MemoryAdmin(asSpecified), 'check')).toEqual({ code: 0, out: '14 topics are ready\n', err: '' })
  })

  it('exits with 0 for notes', async () => {
    const [events, ...others] = asSpecified
    const admin = new MemoryAdmin([
      { ...events!, config: { ...events!.config, 'min.insync.replicas': '1' } },
      ...others,
    ])
    const { code, out } = await run(admin, 'check')
    expect(code).toBe(0)
    expect(out).toMatch(/^note acme\.events has min\.insync\.replicas 1.*\n14 topics are ready\n$/)
  })

  it('prints every error and a remedy', async () => {
    const { code, out, err } = await run(new MemoryAdmin(asSpecified.slice(2)), 'check')
    expect({ code, out, err }).toEqual({
      code: 1,
      out: 'error acme.events does not exist\nerror acme.retry.10s does not exist\n',
      err: 'hookline: missing or misconfigured topics: 2 of 14; create missing topics with: hookline topics apply\n',
    })
  })

  it('names Kafka’s own tools for a topic that topics apply does not change', async () => {
    const [events, ...others] = asSpecified
    const compacted = { ...events!, config: { ...events!.config, 'cleanup.policy': 'compact' } }
    expect(await run(new MemoryAdmin([compacted, ...others]), 'check')).toMatchObject({
      code: 1,
      err: "hookline: missing or misconfigured topics: 1 of 14; correct misconfigured topics with Kafka's own tools, such as kafka-configs.sh\n",
    })
  })

  it('does not name a tool that cannot change partitions', async () => {
    const [events, retry, ...others] = asSpecified
    const { code, err } = await run(new MemoryAdmin([events!, { ...retry!, partitions: 6 }, ...others]), 'check')
    expect({ code, err }).toEqual({
      code: 1,
      err: 'hookline: missing or misconfigured topics: 1 of 14; correct the numbers of partitions as docs/how-to/scale.md says\n',
    })
  })

  it('prints JSON with --json', async () => {
    const { code, out } = await run(new MemoryAdmin(asSpecified.slice(1)), 'check', '--json')
    expect(code).toBe(1)
    expect(JSON.parse(out)).toEqual({
      fit: false,
      topics: 14,
      drift: [{ topic: 'acme.events', kind: 'missing', severity: 'error', detail: 'does not exist' }],
    })
  })
})
