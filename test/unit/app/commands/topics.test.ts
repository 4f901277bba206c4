import { describe, expect, it } from '@jest/globals'
import { topicsCommand } from '../../../../src/app/commands/topics.ts'
import type { TopicAdmin, TopicDescription } from '../../../../src/core/ports.ts'
import { topicConfig, topicSpecs } from '../../../../src/core/topics.ts'
import { durationMs } from '../../../../src/core/units.ts'
import { configFolder } from '../../../support/config/folder.ts'
import { smallConfiguration } from '../../../support/config/small-configuration.ts'
import { runCommand } from '../../../support/process/command-io.ts'

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
  it('creates what is missing, as specified', async () => {
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

  it('with as many replicas as there are brokers', async () => {
    const admin = new MemoryAdmin([])
    expect(await run(admin, 'apply', '--replication-factor', '1')).toMatchObject({ code: 0, err: '' })
    expect(admin.topics[0]).toMatchObject({ replicationFactor: 1, config: { 'min.insync.replicas': '1' } })
  })

  it('leaves what exists, tells what is wrong with it, and agrees with its partitions', async () => {
    const events = { ...asSpecified[0]!, partitions: 24, config: { 'cleanup.policy': 'compact' } }
    const admin = new MemoryAdmin([events])
    const { code, out, err } = await run(admin, 'apply', '--json')
    expect(code).toBe(0)
    expect(err).toBe('hookline: 1 of the topics that existed is not fit for use; see: hookline topics check\n')
    expect(admin.topics[0]).toBe(events)
    expect(JSON.parse(out).topics.slice(0, 2)).toEqual([
      { topic: 'acme.events', result: 'exists', partitions: 24, replicationFactor: 3 },
      { topic: 'acme.retry.10s', result: 'created', partitions: 24, replicationFactor: 3 },
    ])
    expect(admin.topics.find(({ name }) => name === 'acme.dead-letter')?.partitions).toBe(12)
  })
})

it('topics apply says that topics of an earlier version take too little', async () => {
  const old = asSpecified.map(topic => ({ ...topic, config: { ...topic.config, 'max.message.bytes': '1048588' } }))
  expect(await run(new MemoryAdmin(old), 'apply')).toMatchObject({
    code: 0,
    err: 'hookline: max.message.bytes of 5 of the topics is too small; see: hookline topics check\n',
  })
})

describe('topics check', () => {
  it('all is well', async () => {
    expect(await run(new MemoryAdmin(asSpecified), 'check')).toEqual({
      code: 0,
      out: '11 topics are fit for use\n',
      err: '',
    })
  })

  it('a note is no failure', async () => {
    const [events, ...others] = asSpecified
    const admin = new MemoryAdmin([
      { ...events!, config: { ...events!.config, 'min.insync.replicas': '1' } },
      ...others,
    ])
    const { code, out } = await run(admin, 'check')
    expect(code).toBe(0)
    expect(out).toMatch(/^note acme\.events has min\.insync\.replicas 1.*\n11 topics are fit for use\n$/)
  })

  it('names every error and the remedy', async () => {
    const { code, out, err } = await run(new MemoryAdmin(asSpecified.slice(2)), 'check')
    expect({ code, out, err }).toEqual({
      code: 1,
      out: 'error acme.events does not exist\nerror acme.retry.10s does not exist\n',
      err: 'hookline: 2 of 11 topics are not fit for use; hookline topics apply creates what is missing\n',
    })
  })

  it('as JSON', async () => {
    const { code, out } = await run(new MemoryAdmin(asSpecified.slice(1)), 'check', '--json')
    expect(code).toBe(1)
    expect(JSON.parse(out)).toEqual({
      fit: false,
      topics: 11,
      drift: [{ topic: 'acme.events', kind: 'missing', severity: 'error', detail: 'does not exist' }],
    })
  })
})
