import { expect, it } from '@jest/globals'
import { loadKafkajs } from '../../../../../src/adapters/kafka/kafkajs/load-kafkajs.ts'
import { internal } from '../../../../../src/adapters/kafka/kafkajs/private-api.ts'

interface Encoder {
  readonly buffer: Buffer
  writeInt32(value: number): Encoder
  writeBytes(value: Buffer): Encoder
}

it('an encoder that grows returns exactly the bytes that were written', () => {
  loadKafkajs()
  const NewEncoder = internal<new () => Encoder>('protocol/encoder')
  const encoder = new NewEncoder()
  const expected: Buffer[] = []
  for (const length of [1, 500, 3, 100_000, 0, 7]) {
    const bytes = Buffer.alloc(length, length)
    encoder.writeInt32(length).writeBytes(bytes)
    const head = Buffer.alloc(8)
    head.writeInt32BE(length, 0)
    head.writeInt32BE(length, 4)
    expected.push(head, bytes)
    expect(encoder.buffer.equals(Buffer.concat(expected))).toBe(true)
  }
})
