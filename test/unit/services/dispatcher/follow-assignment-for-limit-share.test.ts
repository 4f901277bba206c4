import { expect, it } from '@jest/globals'
import { PartitionShare } from '../../../../src/core/flow/limit-share-by-partitions.ts'
import type { LogConsumerHandlers, TopicPartition } from '../../../../src/core/ports.ts'
import { followAssignment } from '../../../../src/services/dispatcher/follow-assignment-for-limit-share.ts'
import { ManualClock } from '../../../support/manual-clock.ts'
import { RecordingLogger } from '../../../support/telemetry/recording-logger.ts'

const partitions = (...numbers: readonly number[]): readonly TopicPartition[] =>
  numbers.map(partition => ({ topic: 'hookline.events', partition }))
const positions = (...numbers: readonly number[]) =>
  partitions(...numbers).map(each => ({ ...each, offset: 0, metadata: '' }))

function setUp(counts: readonly (number | Error)[]) {
  const clock = new ManualClock()
  const share = new PartitionShare(clock.monotonic())
  const logger = new RecordingLogger()
  const calls: string[] = []
  const note = (call: string) => async (): Promise<void> => void calls.push(call)
  const handlers: LogConsumerHandlers = {
    onAssigned: note('assigned'),
    onRecords: note('records'),
    onRevoked: note('revoked'),
    onRevoking: note('revoking'),
    onLeaseAcquired: note('lease'),
    positions: () => [],
  }
  const left = [...counts]
  const countPartitions = async (): Promise<number> => {
    const next = left.shift() ?? 4
    if (next instanceof Error) throw next
    return next
  }
  const onChange = (): void => void calls.push('changed')
  const following = followAssignment({ share, handlers, countPartitions, onChange, clock, logger })
  const settle = (ms: number): Promise<void> =>
    clock.advance(ms, () => new Promise(resolve => void setImmediate(resolve)))
  return { clock, share, logger, calls, following, settle }
}

it('counts the assigned partitions, forwards each call, and reports the changed share', async () => {
  const { clock, share, calls, following, settle } = setUp([])
  following.start()
  await settle(0)
  following.handlers.onAssigned(positions(0, 3))
  await following.handlers.onRevoking([], Number.POSITIVE_INFINITY)
  await settle(250)
  expect(share.rateAt(clock.monotonic())).toBe(0.5)
  expect(calls).toEqual(['changed', 'assigned', 'revoking', 'changed', 'changed'])
  following.handlers.onRevoked(partitions(3))
  expect(share.rateAt(clock.monotonic())).toBe(0.25)
})

it('reads the number of partitions again at each join', async () => {
  const { clock, share, following, settle } = setUp([4, 4, 8])
  following.start()
  following.handlers.onAssigned(positions(0, 1, 2, 3))
  await following.handlers.onRevoking([], Number.POSITIVE_INFINITY)
  await settle(250)
  expect(share.rateAt(clock.monotonic())).toBe(1)
  await following.handlers.onRevoking([], Number.POSITIVE_INFINITY)
  await settle(0)
  expect(share.rateAt(clock.monotonic())).toBe(0.5)
})

it('repeats a failed request for the number of partitions after a second, until it is stopped', async () => {
  const { clock, share, logger, following, settle } = setUp([new Error('down'), new Error('down'), 2])
  following.start()
  following.handlers.onAssigned(positions(0))
  await settle(1_999)
  expect(share.rateAt(clock.monotonic())).toBe(0)
  await settle(1)
  expect(share.rateAt(clock.monotonic())).toBe(0.5)
  expect(logger.lines).toHaveLength(2)
  following.stop()
  expect(clock.timers).toBe(0)
})
