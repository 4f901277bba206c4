import { expect, it } from '@jest/globals'
import { encodeSuppressions } from '../../../../src/core/deletion/suppressions.ts'
import { toIsoTimestamp } from '../../../../src/core/message/timestamp.ts'
import { durationMs } from '../../../../src/core/time.ts'
import { createSuppressionList } from '../../../../src/services/deletion/suppression-list.ts'
import { MemoryLog } from '../../../support/kafka/memory-log.ts'
import { ManualClock } from '../../../support/manual-clock.ts'
import { RecordingLogger } from '../../../support/telemetry/recording-logger.ts'

it('logs the offsets and the time of a damaged batch, and keeps the other suppressions', async () => {
  const topic = 'suppressions'
  const clock = new ManualClock()
  const log = new MemoryLog(clock)
  const logger = new RecordingLogger()
  const deps = { follower: log.follower(topic), producer: log.producer(), topic, clock, logger }
  const marks = createSuppressionList({ ...deps, retention: durationMs(1_000_000) })
  const suppression = { source: undefined, deletedAt: clock.now(), isSuppressed: false }
  log.write(topic, Buffer.from(encodeSuppressions([suppression])), 'ada')
  log.writeUnreadBatch(topic, { firstOffset: 0, length: 9, bytes: Buffer.of(1), why: 'the checksum is wrong' })
  await marks.start()
  expect(marks.get('ada')).toEqual([suppression])
  expect(marks.isCurrent()).toBe(true)
  const writtenAt = toIsoTimestamp(clock.now())
  expect(logger.lines).toMatchObject([
    {
      level: 'error',
      line: expect.stringMatching(
        /^records of user deletions cannot be read .* find the deletion requests from about the time in "writtenAt"/,
      ),
      fields: { topic, partition: 0, firstOffset: 0, writtenAt, detail: 'the checksum is wrong' },
    },
  ])
})
