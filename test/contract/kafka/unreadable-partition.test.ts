import { expect, it } from '@jest/globals'
import { internal } from '../../../src/adapters/kafka/kafkajs/private-api.ts'
import { append, consumer, newTopic, producer, Recorder } from './test-clients-and-topics.ts'

interface Decoded {
  readonly responses: readonly { readonly partitions: readonly { readonly partition: number; errorCode: number }[] }[]
}

it.each([
  { name: 'UNKNOWN', code: -1 },
  { name: 'CORRUPT_MESSAGE', code: 2 },
])('a consumer reads the other partitions while a broker cannot read one: $name', async ({ code }) => {
  const topic = await newTopic({ partitions: 2 })
  const to = producer()
  const recorder = new Recorder()
  await consumer([topic]).start(recorder)

  // The broker of the tests has no damaged disk, so the test changes the error code in responses.
  const response = internal<{ decode: (bytes: Buffer) => Promise<Decoded> }>('protocol/requests/fetch/v11/response')
  const { decode } = response
  let failures = 0
  response.decode = async bytes => {
    const decoded = await decode(bytes)
    const damaged = decoded.responses.flatMap(each => each.partitions).find(({ partition }) => partition === 0)
    if (damaged !== undefined) {
      damaged.errorCode = code
      failures++
    }
    return decoded
  }
  try {
    for (const partition of [0, 1]) await append(to, topic, { partition, value: Buffer.from(`of ${partition}`) })
    await recorder.until(() => recorder.values.includes('of 1'))
    await append(to, topic, { partition: 1, value: Buffer.from('later') })
    await recorder.until(() => recorder.values.includes('later'))
  } finally {
    response.decode = decode
  }
  await recorder.until(() => recorder.values.includes('of 0'))
  expect(failures).toBeGreaterThan(0)
  // The consumer has not left its group.
  expect(recorder.events.toSorted()).toEqual(['assigned 0@0', 'assigned 1@0'])
})
