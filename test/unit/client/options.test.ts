import { describe, expect, it } from '@jest/globals'
import { ConfigError } from '../../../packages/client/src/errors.ts'
import {
  type AnalyticsOptions,
  settingsOf,
  type TransportOptions,
  transportSettingsOf,
} from '../../../packages/client/src/options.ts'

const endpoint = 'https://events.example.com'
const settings = (options: Partial<AnalyticsOptions> = {}) => settingsOf('key', { endpoint, ...options })
const errorOf = (writeKey: unknown, options: unknown): unknown => {
  try {
    return settingsOf(writeKey as string, options as AnalyticsOptions)
  } catch (error) {
    return error
  }
}

it('has these defaults', () => {
  expect(settings()).toEqual({
    writeKey: 'key',
    url: 'https://events.example.com/v1/batch',
    size: 20,
    flushAfter: 5_000,
    maxRetries: 10,
    timeoutMs: 10_000,
    exitTimeoutMs: 10_000,
    maxQueueMessages: 50_000,
    maxQueueBytes: 67_108_864,
    onFull: 'error',
    onFailure: undefined,
    onSent: undefined,
  })
})

describe('endpoint', () => {
  it.each([
    ['a base URL', 'http://127.0.0.1:8080', 'http://127.0.0.1:8080/v1/batch'],
    ['with a slash', 'https://events.example.com/', 'https://events.example.com/v1/batch'],
    ['a full URL', 'https://events.example.com/v1/import', 'https://events.example.com/v1/import'],
    ['a query is kept', 'https://events.example.com/in?x=1', 'https://events.example.com/in?x=1'],
    ['a fragment is removed', 'https://events.example.com/#top', 'https://events.example.com/v1/batch'],
  ])('%s', (_, given, url) => {
    expect(settings({ endpoint: given }).url).toBe(url)
  })
})

describe('aliases of a setting', () => {
  it.each([
    [{ flushAt: 7 }, { size: 7 }],
    [{ size: 7, flushAt: 7 }, { size: 7 }],
    [{ size: undefined, flushAt: 1 }, { size: 1 }],
    [{ interval: 250 }, { flushAfter: 250 }],
  ])('%j', (given, expected) => {
    expect(settings(given)).toMatchObject(expected)
  })
})

describe('invalid settings are rejected by name', () => {
  it.each([
    ['no write key', undefined, { endpoint }, 'writeKey', /must be the write key/],
    ['an empty write key', '', { endpoint }, 'writeKey', /must be the write key/],
    ['a write key that is too long', 'x'.repeat(1_001), { endpoint }, 'writeKey', /must be the write key/],
    ['options instead of a write key', { endpoint }, undefined, 'writeKey', /must be the write key/],
    ['no options', 'key', undefined, 'endpoint', /is required/],
    ['no endpoint', 'key', {}, 'endpoint', /must be the collector's URL/],
    ['a host as endpoint', 'key', { endpoint: 'events.example.com' }, 'endpoint', /must be the collector's URL/],
    ['another scheme', 'key', { endpoint: 'ftp://example.com' }, 'endpoint', /http:\/\/ or https:\/\//],
    ['credentials in the endpoint', 'key', { endpoint: 'https://a:b@example.com' }, 'endpoint', /credentials/],
    ['size and flushAt differ', 'key', { endpoint, size: 20, flushAt: 1 }, 'size', /are names of the same setting/],
    ['flushAfter, interval differ', 'key', { endpoint, flushAfter: 1, interval: 2 }, 'flushAfter', /different values/],
    ['size 0', 'key', { endpoint, size: 0 }, 'size', /from 1 to 2500/],
    ['flushAt 2,501', 'key', { endpoint, flushAt: 2_501 }, 'flushAt', /^'flushAt' must be an integer from 1 to 2500/],
    ['a fraction', 'key', { endpoint, maxRetries: 1.5 }, 'maxRetries', /an integer/],
    ['a number as a string', 'key', { endpoint, flushAfter: '5s' }, 'flushAfter', /an integer/],
    ['NaN', 'key', { endpoint, timeoutMs: Number.NaN }, 'timeoutMs', /an integer/],
    ['a queue shorter than a batch', 'key', { endpoint, maxQueueMessages: 19 }, 'maxQueueMessages', /from 20/],
    ['a queue too small for one message', 'key', { endpoint, maxQueueBytes: 32_767 }, 'maxQueueBytes', /from 32768/],
    ['an unknown policy', 'key', { endpoint, onFull: 'drop' }, 'onFull', /error, drop-oldest, wait/],
    ['a listener that is not a function', 'key', { endpoint, onFailure: 'log' }, 'onFailure', /must be a function/],
    ['wrong capitals', 'key', { endpoint, FlushAt: 1 }, 'FlushAt', /did you mean 'flushAt'\?/],
    ['an unknown setting', 'key', { endpoint, batchSize: 1 }, 'batchSize', /possible: endpoint, timeoutMs, size/],
  ])('%s', (_, writeKey, options, field, message) => {
    const error = errorOf(writeKey, options)
    expect(error).toBeInstanceOf(ConfigError)
    expect(error).toMatchObject({ code: 'invalid_config', field, message: expect.stringMatching(message) })
  })
})

describe('a custom transport', () => {
  const transport = { envelopeBytes: 0, send: async () => ({ kind: 'taken', rejected: [] }) as const }

  it('has the settings of the queue, with the same defaults', () => {
    const { writeKey: _writeKey, url: _url, timeoutMs: _timeoutMs, ...queue } = settings({ size: 100 })
    expect(transportSettingsOf({ transport, size: 100 })).toEqual(queue)
  })

  it.each<[string, object, string, RegExp]>([
    ['that has no methods', { transport: {} }, 'transport', /kafkaTransport/],
    ['that is undefined', { transport: undefined }, 'transport', /kafkaTransport/],
    ['that is a number', { transport: 5 }, 'transport', /kafkaTransport/],
    ['with an endpoint', { transport, endpoint }, 'endpoint', /^unknown setting 'endpoint' \(possible: transport,/],
    ['with a queue shorter than a batch', { transport, maxQueueMessages: 1 }, 'maxQueueMessages', /from 20/],
  ])('%s is rejected', (_, given, field, message) => {
    expect(() => transportSettingsOf(given as TransportOptions)).toThrow(
      expect.objectContaining({ name: 'ConfigError', field, message: expect.stringMatching(message) }),
    )
  })
})
