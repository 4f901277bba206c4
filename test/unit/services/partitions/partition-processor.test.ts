import { expect, it } from '@jest/globals'
import { PartitionProcessor } from '../../../../src/services/partitions/partition-processor.ts'
import { partition, ScriptedConsumer } from '../../../support/kafka/scripted-consumer.ts'

it('a partition is resumed once, when the last reason for its pause is removed', () => {
  let resumes = 0
  const processor = new PartitionProcessor(
    { ...partition, offset: 0, metadata: '' },
    {
      consumer: new ScriptedConsumer([], 0),
      limits: () => ({ records: 10, bytes: 1_000, span: 20, dueSoon: 10 }),
      onResumed: () => resumes++,
      exactSince: undefined,
    },
  )
  processor.pause('schema')
  processor.pause('not_due')
  processor.resume('schema')
  expect([resumes, processor.isPaused]).toEqual([0, true])
  processor.resume('not_due')
  processor.resume('not_due')
  expect([resumes, processor.isPaused]).toEqual([1, false])
})
