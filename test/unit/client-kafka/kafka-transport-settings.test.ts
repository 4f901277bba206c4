import { describe, expect, it } from '@jest/globals'
import { ConfigError } from '../../../packages/client/src/errors.ts'
import type { KafkaTransportOptions } from '../../../packages/client-kafka/src/kafka-transport-options.ts'
import { kafkaTransportSettings } from '../../../packages/client-kafka/src/kafka-transport-settings.ts'

const least: KafkaTransportOptions = {
  source: 'web',
  brokers: ['kafka:9092'],
  registry: { url: 'http://registry:8081' },
}
it('the least that is needed', () => {
  expect(kafkaTransportSettings(least)).toEqual({
    sourceId: 'web',
    topicPrefix: 'hookline',
    kafka: { brokers: ['kafka:9092'], clientId: 'hookline-client', tls: undefined, sasl: undefined },
    registry: { url: 'http://registry:8081', auth: undefined },
  })
})

it('all that is possible', () => {
  const settings = kafkaTransportSettings({
    source: 'server',
    brokers: ['a:1', '[::1]:2'],
    registry: { url: 'https://registry.example.com/apis/ccompat/v7', username: 'you', password: 'word' },
    topicPrefix: 'acme.prod',
    clientId: 'shop',
    tls: { ca: 'CA', cert: 'CERT', key: 'KEY' },
    sasl: { mechanism: 'scram-sha-512', username: 'me', password: 'pass' },
  })
  expect(settings).toMatchObject({
    sourceId: 'server',
    topicPrefix: 'acme.prod',
    kafka: { brokers: ['a:1', '[::1]:2'], clientId: 'shop', tls: { ca: 'CA', cert: 'CERT' } },
    registry: { url: 'https://registry.example.com/apis/ccompat/v7' },
  })
  const { kafka, registry } = settings
  expect(kafka.sasl?.mechanism).toBe('scram-sha-512')
  const secrets = [kafka.tls?.key, kafka.sasl?.username, kafka.sasl?.password, registry.auth?.username]
  expect([...secrets, registry.auth?.password].map(secret => secret?.reveal())).toEqual([
    ...['KEY', 'me', 'pass'],
    ...['you', 'word'],
  ])
})

it('TLS with the public roots', () => {
  expect(kafkaTransportSettings({ ...least, tls: {} }).kafka.tls).toEqual({
    ca: undefined,
    cert: undefined,
    key: undefined,
  })
})

describe('refused, naming the option, never its value', () => {
  it.each<[string, unknown, string, string]>([
    ['nothing', undefined, 'source', "'source' is missing."],
    ['no source', { ...least, source: undefined }, 'source', "'source' is missing."],
    ['a reserved source', { ...least, source: 'hookline.x' }, 'source', `'source' ids that begin with "hookline." are`],
    ['no brokers', { ...least, brokers: [] }, 'brokers', "'brokers' must have at least one entry."],
    ['brokers as text', { ...least, brokers: 'a:1' }, 'brokers', "'brokers' must be a list, not text."],
    ['a broker without port', { ...least, brokers: ['a:1', 'b'] }, 'brokers[1]', "'brokers[1]' must be host:port"],
    ['no registry', { ...least, registry: {} }, 'registry.url', "'registry.url' is missing."],
    [
      'a registry that is no URL',
      { ...least, registry: { url: 'r:1' } },
      'registry.url',
      "'registry.url' must begin with http",
    ],
    [
      'half of the credentials',
      { ...least, registry: { url: 'http://r', username: 'me' } },
      'registry',
      "'registry' needs both username and password, or neither.",
    ],
    ['half of a certificate', { ...least, tls: { cert: 'C' } }, 'tls', "'tls' needs both cert and key, or neither."],
    [
      'another mechanism',
      { ...least, sasl: { mechanism: 'md5', username: 'u', password: 'p' } },
      'sasl.mechanism',
      "'sasl.mechanism' must be one of: plain, scram-sha-256, scram-sha-512.",
    ],
    ['a typo', { ...least, broker: ['a:1'] }, 'broker', "'broker' is no setting: did you mean 'brokers'?"],
    [
      'a setting of another place',
      { ...least, tls: { caFile: 'x' } },
      'tls.caFile',
      "'tls.caFile' is no setting: the settings there are ca, cert, key.",
    ],
  ])('%s', (_, given, field, message) => {
    let error: unknown
    try {
      kafkaTransportSettings(given as KafkaTransportOptions)
    } catch (thrown) {
      error = thrown
    }
    expect(error).toBeInstanceOf(ConfigError)
    expect(error).toMatchObject({ field, message: expect.stringContaining(message) })
  })
})
