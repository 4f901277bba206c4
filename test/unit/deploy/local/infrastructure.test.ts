import { describe, expect, it } from '@jest/globals'
import { findOrStartKafka, findOrStartRegistry } from '../../../../deploy/tools/local/infrastructure.ts'

const silent = (): void => {}

describe('findOrStartKafka', () => {
  it.each([
    ['one broker', 'kafka:9092', ['kafka:9092']],
    ['several, with spaces', ' a:9092, b:9093 ,', ['a:9092', 'b:9093']],
  ])('takes KAFKA_BROKERS before anything else: %s', async (_, KAFKA_BROKERS, brokers) => {
    const kafka = await findOrStartKafka({ env: { KAFKA_BROKERS }, log: silent })
    expect(kafka.brokers).toEqual(brokers)
    await kafka.stop()
  })

  it('HOOKLINE_KAFKA leaves only one way, and the error is about that one', async () => {
    const start = findOrStartKafka({ env: { HOOKLINE_KAFKA: 'environment' }, log: silent })
    await expect(start).rejects.toThrow(
      'There is no Kafka. One of these is enough:\n  - KAFKA_BROKERS: not set. Set it to a cluster',
    )
  })

  it('refuses a HOOKLINE_KAFKA that is no way', async () => {
    await expect(findOrStartKafka({ env: { HOOKLINE_KAFKA: 'docker' } })).rejects.toThrow(
      'HOOKLINE_KAFKA is docker; it may be environment, container, jars',
    )
  })
})

describe('findOrStartRegistry', () => {
  it('takes SCHEMA_REGISTRY_URL before anything else', async () => {
    const env = { SCHEMA_REGISTRY_URL: 'http://registry:8081' }
    expect((await findOrStartRegistry({ env, log: silent })).url).toBe('http://registry:8081')
  })
})
