import { expect, it } from '@jest/globals'
import { flowLimits } from '../../../../src/core/flow/flow-control-constants.ts'
import { AdmittedRecord } from '../../../../src/services/dispatcher/admitted-record.ts'
import { PartitionProcessor } from '../../../../src/services/partitions/partition-processor.ts'
import { recordOf } from '../../../support/builders.ts'
import { partition, ScriptedConsumer } from '../../../support/kafka/scripted-consumer.ts'

it('a partition is resumed once, when the last reason for its pause is removed', () => {
  let resumes = 0
  const processor = new PartitionProcessor(
    { ...partition, offset: 0, metadata: '' },
    {
      consumer: new ScriptedConsumer([], 0),
      limits: () => ({ records: 10, bytes: 1_000, span: 20, dueSoonRecords: 10 }),
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

it('a partition is paused while its records have too many deliveries in memory, and resumed at half of them', () => {
  const { deliveriesPerRecord } = flowLimits.prefetch
  let resumes = 0
  const processor = new PartitionProcessor(
    { ...partition, offset: 0, metadata: '' },
    {
      consumer: new ScriptedConsumer([], 0),
      limits: () => ({ records: 4, bytes: 1_000, span: 20, dueSoonRecords: 10 }),
      onResumed: () => resumes++,
      exactSince: undefined,
    },
  )
  const admit = (offset: number): AdmittedRecord => {
    const record = recordOf({ ...partition, offset })
    processor.admit(record)
    return new AdmittedRecord(record, processor, 0, { done: () => processor.done(record) })
  }
  const first = admit(0)
  const deliveries = 4 * deliveriesPerRecord + 1
  for (let index = 0; index < deliveries; index++) first.retain()
  const second = admit(1)
  expect([processor.isPaused, processor.hasRoomForNotDue]).toEqual([true, false])
  for (let index = 0; index < deliveries / 2 - 1; index++) first.release()
  expect([processor.isPaused, resumes]).toEqual([true, 0])
  first.release()
  expect([processor.isPaused, resumes]).toEqual([false, 1])
  for (let index = 0; index < deliveries / 2; index++) first.release()
  second.release()
  // No record is left, so the number of deliveries in memory begins at 0 again.
  const third = admit(2)
  for (let index = 0; index < deliveriesPerRecord; index++) third.retain()
  expect(processor.hasRoomForNotDue).toBe(true)
  third.retain()
  expect(processor.hasRoomForNotDue).toBe(false)
})
