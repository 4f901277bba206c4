import { beforeAll, describe, expect, it } from '@jest/globals'
import { loadKafkajs } from '../../../../../../src/adapters/kafka/kafkajs/kafkajs.ts'
import { internal } from '../../../../../../src/adapters/kafka/kafkajs/private-api.ts'
import { decodeRecordSet } from './batches.ts'

/* Who had loaded a file before it was replaced would go on with kafkajs's own: seen by what only that does. */

type Headers = Readonly<Record<string, string | undefined>>
interface Encoded {
  readonly buffer: Buffer
}
type Produce = (request: object) => { encode(): Promise<Encoded> }

beforeAll(() => {
  loadKafkajs()
})

/** A request with one record. */
const produced = (headers: Headers): Promise<Encoded> => {
  const partitions = [{ partition: 0, messages: [{ key: null, value: null, headers }] }]
  return internal<Produce>('protocol/requests/produce/v3/request')({
    acks: -1,
    timeout: 1_000,
    topicData: [{ topic: 't', partitions }],
  }).encode()
}

describe('kafkajs', () => {
  it('writes records by our code: its own takes no header without a value', async () => {
    await expect(produced({ name: undefined })).resolves.toMatchObject({ buffer: expect.any(Buffer) })
  })

  it('reads records by our code: its own adds values to headers named like what every object has', async () => {
    const { buffer } = await produced({ constructor: 'x' } as unknown as Headers)
    // Behind: no transaction's id (2 bytes), acks, timeout, one topic 't', one partition, the length of its batches.
    const [record] = await decodeRecordSet(buffer.subarray(2 + 2 + 4 + 4 + 3 + 4 + 4 + 4))
    expect(record).toMatchObject({ headers: { constructor: Buffer.from('x') } })
  })
})
