import { expect, it } from '@jest/globals'
import type { MembershipRecord } from '../../../../src/core/audience/membership-and-watermark-records.ts'
import type { LogRecord, PartitionReader, ValueCodec } from '../../../../src/core/ports.ts'
import { epochMs } from '../../../../src/core/time.ts'
import { createMembershipsReader } from '../../../../src/services/audiences/memberships-reader.ts'
import { RecordingLogger } from '../../../support/telemetry/recording-logger.ts'

const topic = 'hookline.memberships'

/** A reader of one partition with these records. */
const readerOf = (records: readonly LogRecord[]): PartitionReader => ({
  async readPartition(_, onRecord) {
    for (const record of records) await onRecord(record)
    return records.length
  },
  endOf: async () => records.length,
})

it('passes no record for a batch that cannot be read, and says what to do', async () => {
  const tombstone: LogRecord = {
    ...{ topic, partition: 0, offset: 8, timestamp: epochMs(0), key: Buffer.from('key'), value: null, headers: {} },
  }
  const unreadBatch = { firstOffset: 3, length: 10, bytes: Buffer.of(1), why: 'the batch is too large' }
  const logger = new RecordingLogger()
  const log = createMembershipsReader({
    ...{ reader: readerOf([{ ...tombstone, offset: 5, key: null, unreadBatch }, tombstone]), topic, logger },
    codec: {} as ValueCodec<MembershipRecord>,
  })
  const passed: number[] = []
  const { next, records } = await log.read(0, 3, (_, offset) => passed.push(offset))
  expect([passed, next, records]).toEqual([[8], 9, 2])
  expect(logger.lines).toMatchObject([
    {
      level: 'error',
      fields: { topic, partition: 0, offset: 5, detail: 'the batch is too large' },
      line: expect.stringContaining('run `hookline audience reset`'),
    },
  ])
})
