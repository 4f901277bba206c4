import { describe, expect, it } from '@jest/globals'
import { ConfigurationRefused } from '../../../src/app/create-command.ts'
import { loadMergedSettings, mergeConfigTopic } from '../../../src/app/merged-settings-of-command.ts'
import { encodeRecord } from '../../../src/core/config-objects/object-record.ts'
import type { EncryptionKey } from '../../../src/core/encryption-key.ts'
import type { TopicFollower } from '../../../src/core/ports.ts'
import { durationMs } from '../../../src/core/time.ts'
import { configFolder } from '../../support/config/config-folder.ts'
import {
  destinationDocument,
  fileSettings,
  firstKey,
  keyFile,
  named,
  objectRecord,
  sealedValue,
  secondKey,
  sourceDocument,
} from '../../support/config-objects/example-objects.ts'
import { MemoryLog } from '../../support/kafka/memory-log.ts'
import { ManualClock } from '../../support/manual-clock.ts'
import { createTestIo } from '../../support/process/in-process-command.ts'

const topic = 'hookline.config'
const created = (kind: 'destination' | 'source', id: string, key: EncryptionKey = firstKey) => {
  const document = kind === 'source' ? sourceDocument() : destinationDocument()
  return encodeRecord(objectRecord({ kind, id, value: sealedValue(named(kind, id), document, key) }))
}

/** A config topic with these records. A follower has read them when its `start` resolves. */
function topicOf(...records: ReturnType<typeof created>[]) {
  const clock = new ManualClock()
  const log = new MemoryLog(clock)
  for (const record of records) log.producer().append(topic, record, () => undefined)
  log.poll()
  let stopped = 0
  const open = (): TopicFollower => {
    const follower = log.follower(topic)
    const stop = async (): Promise<void> => {
      stopped++
      await follower.stop()
    }
    return { start: handlers => follower.start(handlers), stop }
  }
  return { clock, open, stopped: () => stopped }
}

const limit = durationMs(30_000)
const idsOf = (list: readonly { readonly id: string }[]): readonly string[] => list.map(({ id }) => id)

describe('the settings of a command', () => {
  it('have the objects of the config topic, and the topic is read only once', async () => {
    const access = topicOf(created('destination', 'crm'), created('source', 'app'))
    const io = createTestIo()
    const settings = await mergeConfigTopic(fileSettings(), io, limit, access)
    expect(idsOf(settings.destinations)).toEqual(['file-crm', 'crm'])
    expect(idsOf(settings.sources)).toEqual(['web', 'app'])
    expect([access.stopped(), io.err()]).toEqual([1, ''])
  })

  it('are those of the file without a config topic, and nothing is opened', async () => {
    const { configTopic: _, ...file } = fileSettings()
    const open = (): never => {
      throw new Error('opened')
    }
    expect(await mergeConfigTopic(file, createTestIo(), limit, { open, clock: new ManualClock() })).toBe(file)
  })

  it('have the destination of the file if both have it', async () => {
    const access = topicOf(created('destination', 'file-crm'))
    const io = createTestIo()
    const settings = await mergeConfigTopic(fileSettings(), io, limit, access)
    expect(settings.destinations).toEqual(fileSettings().destinations)
    expect(io.err()).toBe('')
  })

  it('have a placeholder for an object that cannot be read, and stderr names it', async () => {
    const access = topicOf(created('destination', 'crm'), created('destination', 'erp', secondKey))
    const io = createTestIo()
    const { destinations } = await mergeConfigTopic(fileSettings(), io, limit, access)
    expect(destinations.map(({ id, isPlaceholder = false }) => [id, isPlaceholder])).toEqual([
      ['file-crm', false],
      ['crm', false],
      ['erp', true],
    ])
    expect(io.err()).toMatch(
      /^(hookline: the command ignores an invalid destination or source that was created through the operator API: destination\/erp: .+ \(.+\)\n)+$/,
    )
    expect(io.err()).not.toContain('token-of-the-crm')
  })

  it('are not available when the topic is not read within the limit', async () => {
    const { clock } = topicOf()
    let isStopped = false
    const stop = async (): Promise<void> => {
      isStopped = true
    }
    const open = (): TopicFollower => ({ start: () => new Promise(() => undefined), stop })
    const reading = mergeConfigTopic(fileSettings(), createTestIo(), limit, { open, clock })
    const failed = expect(reading).rejects.toThrow(
      'cannot read topic hookline.config within 30s; this topic has the destinations and sources that were created through the operator API; check that Kafka responds, and try again',
    )
    await clock.advance(limit)
    await failed
    expect(isStopped).toBe(true)
  })
})

describe('the keys of the config topic', () => {
  const yaml = `kafka: { brokers: [a:9092] }
registry: { url: http://registry:8081 }
operator: { encryptionKeyFile: absent.key, keys: [{ name: ada, role: operate, keyFile: not-needed }] }
sources: [{ id: web, writeKeyFile: not-needed }]
`

  it('are read, and no other secret', async () => {
    const files = { 'hookline.yaml': yaml.replace('absent.key', 'topic.key'), 'topic.key': keyFile('first') }
    const config = `${await configFolder(files)}/hookline.yaml`
    const settings = await loadMergedSettings({ config }, createTestIo(), topicOf(created('destination', 'crm')))
    expect(idsOf(settings.destinations)).toEqual(['crm'])
  })

  it('are required', async () => {
    const config = `${await configFolder({ 'hookline.yaml': yaml })}/hookline.yaml`
    const refused = await loadMergedSettings({ config }, createTestIo(), topicOf()).catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(ConfigurationRefused)
    expect((refused as Error).message).toContain('operator.encryptionKeyFile: names a file that does not exist')
  })
})
