import { expect, it, jest } from '@jest/globals'
import { processTime } from '../../../src/adapters/clock/process-clock.ts'

const createProducer = jest.fn()
const createKafkaTransport = jest.fn()
jest.unstable_mockModule('../../../src/adapters/kafka/producer/producer.ts', () => ({ createProducer }))
jest.unstable_mockModule('../../../packages/client-kafka/src/kafka-transport.ts', () => ({ createKafkaTransport }))
const { kafkaTransport } = await import('../../../packages/client-kafka/src/index.ts')

it('corrects the times of its messages by the time of the brokers', () => {
  kafkaTransport({ source: 'web', brokers: ['kafka:9092'], registry: { url: 'http://registry:8081' } })
  expect(createProducer).toHaveBeenCalledWith(expect.objectContaining({ onAppended: processTime.learn }))
  const [given] = createKafkaTransport.mock.calls[0] as [{ now: unknown; machineTime: () => number | undefined }]
  expect(given.now).toBe(processTime.now)
  expect(given.machineTime()).toBeUndefined()
})
