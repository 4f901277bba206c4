import { describe, expect, it } from '@jest/globals'
import { ConfigurationRefused, UsageError } from '../../../src/app/create-command.ts'
import { configPath, loadSettings } from '../../../src/app/load-settings.ts'
import { configFolder } from '../../support/config/config-folder.ts'
import { smallConfiguration } from '../../support/config/small-configuration.ts'
import { createTestIo } from '../../support/process/in-process-command.ts'

const folder = await configFolder({ 'good.yaml': smallConfiguration(), 'bad.yaml': 'kafka: {}\nsauces: []\n' })
const withAbsentFiles = `kafka: { brokers: [a:9092] }
registry: { url: http://registry:8081 }
sources: [{ id: web, writeKeyFile: absent }]
destinations: [{ id: crm, sources: [web], webhooks: [{ urlFile: absent-too }] }]
`
const good = { config: `${folder}/good.yaml` }

describe('configPath', () => {
  it.each([
    [{ config: 'a.yaml' }, { HOOKLINE_CONFIG: 'b.yaml' }, 'a.yaml'],
    [{}, { HOOKLINE_CONFIG: 'b.yaml' }, 'b.yaml'],
  ])('%j with %j', (options, env, path) => {
    expect(configPath(options, createTestIo({ env }))).toBe(path)
  })

  it.each([[{}], [{ HOOKLINE_CONFIG: '' }]])('rejects a missing path: %j', env => {
    expect(() => configPath({}, createTestIo({ env }))).toThrow(
      new UsageError('no configuration file: use --config <file> or set HOOKLINE_CONFIG'),
    )
  })
})

describe('loadSettings', () => {
  it('returns the settings of the file', async () => {
    const { kafka, registry } = await loadSettings(good, createTestIo())
    expect(kafka.brokers).toEqual(['127.0.0.1:9092'])
    expect(registry.url).toBe('http://127.0.0.1:8081')
  })

  it('overrides the addresses of Kafka and the registry from the environment', async () => {
    const env = { KAFKA_BROKERS: 'a:1, b:2 ,', SCHEMA_REGISTRY_URL: 'https://registry.test/path' }
    const { kafka, registry } = await loadSettings(good, createTestIo({ env }))
    expect(kafka.brokers).toEqual(['a:1', 'b:2'])
    expect(registry).toEqual({ url: 'https://registry.test/path', auth: undefined })
  })

  it('ignores an empty variable', async () => {
    const { kafka } = await loadSettings(good, createTestIo({ env: { KAFKA_BROKERS: '', SCHEMA_REGISTRY_URL: ' ' } }))
    expect(kafka.brokers).toEqual(['127.0.0.1:9092'])
  })

  it.each([
    [{ KAFKA_BROKERS: 'a:1,b' }, 'KAFKA_BROKERS: must be host:port, for example kafka:9092'],
    [{ SCHEMA_REGISTRY_URL: 'registry:8081' }, 'SCHEMA_REGISTRY_URL: must begin with http:// or https://'],
  ])('rejects %j', async (env, message) => {
    await expect(loadSettings(good, createTestIo({ env }))).rejects.toThrow(message)
  })

  it('does not need the files of other services', async () => {
    const path = `${await configFolder({ 'hookline.yaml': withAbsentFiles })}/hookline.yaml`
    const { sources } = await loadSettings({ config: path }, createTestIo())
    expect(sources.map(({ id }) => id)).toEqual(['web'])
    const asked = loadSettings({ config: path }, createTestIo(), new Set(['collector']))
    await expect(asked).rejects.toThrow('sources[0].writeKeyFile: names a file that does not exist')
    await expect(asked).rejects.not.toThrow('destinations')
  })

  it('reports every problem of an invalid file', async () => {
    const refused = await loadSettings({ config: `${folder}/bad.yaml` }, createTestIo()).catch(error => error)
    expect(refused).toBeInstanceOf(ConfigurationRefused)
    expect(refused.lines.length).toBeGreaterThan(1)
    for (const line of refused.lines) expect(line).toMatch(/bad\.yaml:\d+:\d+: \w/)
  })
})
