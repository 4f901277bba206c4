import { beforeAll, describe, expect, it } from '@jest/globals'
import { loadKafkajs } from '../../../../../src/adapters/kafka/kafkajs/load-kafkajs.ts'
import { internal } from '../../../../../src/adapters/kafka/kafkajs/private-api.ts'
import { decodeRecordSet } from './record-batches.ts'

/*
 * These tests check that `loadKafkajs` replaces files of kafkajs before other files load them. For
 * the input of each test, the original file and its replacement behave differently.
 */

type Headers = Readonly<Record<string, string | undefined>>
interface Encoded {
  readonly buffer: Buffer
}
type Produce = (request: object) => { encode(): Promise<Encoded> }

beforeAll(() => {
  loadKafkajs()
})

const produced = (headers: Headers): Promise<Encoded> => {
  const partitions = [{ partition: 0, messages: [{ key: null, value: null, headers }] }]
  return internal<Produce>('protocol/requests/produce/v3/request')({
    acks: -1,
    timeout: 1_000,
    topicData: [{ topic: 't', partitions }],
  }).encode()
}

describe('kafkajs', () => {
  it('encodes records with the patch: the original fails for a header without a value', async () => {
    await expect(produced({ name: undefined })).resolves.toMatchObject({ buffer: expect.any(Buffer) })
  })

  it('decodes records with the patch: the original adds a value to a header named `constructor`', async () => {
    const { buffer } = await produced({ constructor: 'x' } as unknown as Headers)
    // Skips the fields before the batch: transactional id (2 bytes), acks, timeout, one topic 't',
    // one partition, and the size.
    const [record] = await decodeRecordSet(buffer.subarray(2 + 2 + 4 + 4 + 3 + 4 + 4 + 4))
    expect(record).toMatchObject({ headers: { constructor: Buffer.from('x') } })
  })

  it('connects with the patch: the original has no connection for JoinGroup', async () => {
    type Build = (options: object) => { build(): Promise<{ readonly pool: readonly unknown[] }> }
    const logger = { namespace: () => ({}) }
    const builder = internal<Build>('cluster/connectionPoolBuilder')({
      brokers: ['a:1'],
      requestTimeout: 1_000,
      logger,
    })
    expect((await builder.build()).pool).toHaveLength(3)
  })
})
