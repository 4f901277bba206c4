import { describe, expect, it } from '@jest/globals'
import { findOrStartKafka, findOrStartRegistry } from '../../../../deploy/tools/local/kafka-and-registry.ts'

const silent = (): void => {}

describe('findOrStartKafka', () => {
  it.each([
    ['one broker', 'kafka:9092', ['kafka:9092']],
    ['several, with spaces', ' a:9092, b:9093 ,', ['a:9092', 'b:9093']],
  ])('prefers KAFKA_BROKERS to all other sources: %s', async (_, KAFKA_BROKERS, brokers) => {
    const kafka = await findOrStartKafka({ env: { KAFKA_BROKERS }, log: silent })
    expect(kafka.brokers).toEqual(brokers)
    await kafka.stop()
  })

  it('HOOKLINE_KAFKA leaves one source, and the error is about that source', async () => {
    const start = findOrStartKafka({ env: { HOOKLINE_KAFKA: 'environment' }, log: silent })
    await expect(start).rejects.toThrow(
      'Kafka is not available. Use one of these options:\n  - KAFKA_BROKERS: not set. Set it to the brokers',
    )
  })

  it('rejects an unknown value of HOOKLINE_KAFKA', async () => {
    await expect(findOrStartKafka({ env: { HOOKLINE_KAFKA: 'docker' } })).rejects.toThrow(
      "HOOKLINE_KAFKA: unknown value 'docker' (possible: environment, container, jars)",
    )
  })
})

describe('findOrStartRegistry', () => {
  it('prefers SCHEMA_REGISTRY_URL', async () => {
    const env = { SCHEMA_REGISTRY_URL: 'http://registry:8081' }
    expect((await findOrStartRegistry({ env, log: silent })).url).toBe('http://registry:8081')
  })
})
