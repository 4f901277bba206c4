import { describe, expect, it } from '@jest/globals'
import { ConfigError } from '../../../packages/client/src/errors.ts'
import type { KafkaTransportOptions } from '../../../packages/client-kafka/src/kafka-transport-options.ts'
import { kafkaTransportSettings } from '../../../packages/client-kafka/src/validate-kafka-transport-options.ts'

const minimal: KafkaTransportOptions = {
  source: 'web',
  brokers: ['kafka:9092'],
  registry: { url: 'http://registry:8081' },
}
it('accepts the minimum', () => {
  expect(kafkaTransportSettings(minimal)).toEqual({
    sourceId: 'web',
    topicPrefix: 'hookline',
    kafka: { brokers: ['kafka:9092'], clientId: 'hookline-client', tls: undefined, sasl: undefined },
    registry: { url: 'http://registry:8081', auth: undefined },
  })
})

it('accepts all options', () => {
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

it('accepts empty TLS options', () => {
  expect(kafkaTransportSettings({ ...minimal, tls: {} }).kafka.tls).toEqual({
    ca: undefined,
    cert: undefined,
    key: undefined,
  })
})

describe('invalid options are rejected by name, without their value', () => {
  it.each<[string, changes: object | undefined, string, string]>([
    ['no options', undefined, 'source', "'source' is missing."],
    ['no source', { source: undefined }, 'source', "'source' is missing."],
    ['a reserved source', { source: 'hookline.x' }, 'source', `'source' must not begin with "hookline."`],
    ['no brokers', { brokers: [] }, 'brokers', "'brokers' must have at least one entry."],
    ['brokers as text', { brokers: 'a:1' }, 'brokers', "'brokers' must be a list, not text."],
    ['a broker without port', { brokers: ['a:1', 'b'] }, 'brokers[1]', "'brokers[1]' must be host:port"],
    ['no registry', { registry: {} }, 'registry.url', "'registry.url' is missing."],
    ['a registry that is no URL', { registry: { url: 'r:1' } }, 'registry.url', "'registry.url' must begin with http"],
    [
      'a username without a password',
      { registry: { url: 'http://r', username: 'me' } },
      'registry',
      "'registry' must have both 'username' and 'password', or neither of them.",
    ],
    [
      'a certificate without a key',
      { tls: { cert: 'C' } },
      'tls',
      "'tls' must have both 'cert' and 'key', or neither of them.",
    ],
    [
      'an unknown mechanism',
      { sasl: { mechanism: 'md5', username: 'u', password: 'p' } },
      'sasl.mechanism',
      "'sasl.mechanism' must be one of: plain, scram-sha-256, scram-sha-512.",
    ],
    ['a typo', { broker: ['a:1'] }, 'broker', "unknown setting 'broker' (did you mean 'brokers'?)"],
    [
      'an unknown nested setting',
      { tls: { caFile: 'x' } },
      'tls.caFile',
      "unknown setting 'tls.caFile' (possible: ca, cert, key)",
    ],
  ])('%s', (_, changes, field, message) => {
    let error: unknown
    try {
      kafkaTransportSettings((changes && { ...minimal, ...changes }) as KafkaTransportOptions)
    } catch (thrown) {
      error = thrown
    }
    expect(error).toBeInstanceOf(ConfigError)
    expect(error).toMatchObject({ field, message: expect.stringContaining(message) })
  })
})
