import { describe, expect, it } from '@jest/globals'
import { parseDeliveryState } from '../../../../src/core/delivery/delivery-state.ts'
import { createRouting, placeholderDestination, type Routing } from '../../../../src/core/delivery/route.ts'
import type { ResendJob } from '../../../../src/core/jobs/job.ts'
import type { LogRecord } from '../../../../src/core/ports.ts'
import { topicNames } from '../../../../src/core/topics.ts'
import type { OwnedJob } from '../../../../src/services/jobs/owned-job.ts'
import { createSkipPacer, runResend } from '../../../../src/services/jobs/run-resend.ts'
import { defaultPolicy, destinationOf, eventOf, messageOf, recordOf, sourceOf } from '../../../support/builders.ts'
import { resendJob } from '../../../support/jobs/builders.ts'
import { createMemoryOwnedJob } from '../../../support/jobs/memory-owned-job.ts'
import { JsonEventCodec } from '../../../support/kafka/json-codec.ts'
import { ManualClock } from '../../../support/manual-clock.ts'
import { RecordingLogger } from '../../../support/telemetry/recording-logger.ts'

const codec = new JsonEventCodec()
const eventAt = (offset: number, given: Partial<LogRecord> = {}): LogRecord =>
  recordOf({ partition: 0, offset, value: codec.encode(eventOf()), ...given })
const routingOf = (...ids: readonly string[]): Routing =>
  createRouting({ sources: [sourceOf('web')], destinations: ids.map(id => destinationOf({ id })) })

/**
 * Starts a resend of `records`. All other records below `beginning` count as deleted. Returns
 * `sent`, the offsets of sent events, and `refusalOf`, which a test can replace to make writes
 * fail.
 */
function startResend(
  job: Partial<ResendJob> = {},
  records: readonly LogRecord[] = [eventAt(0)],
  routing = routingOf(),
  beginning = 0,
  clock = new ManualClock(),
  pacedSkip = createSkipPacer(clock),
) {
  const given = {
    ...{ routing, sent: [] as number[], codec: new JsonEventCodec(), logger: new RecordingLogger() },
    refusalOf: (_offset: number): Error | undefined => undefined,
  }
  const append: OwnedJob['producer']['append'] = (_topic, { headers }, onAck) => {
    const offset = parseDeliveryState(headers)?.origin.offset as number
    const refusal = given.refusalOf(offset)
    if (refusal === undefined) given.sent.push(offset)
    onAck(refusal)
  }
  const { owned, changed } = createMemoryOwnedJob({ append })
  const outcome = runResend(
    {
      ...{ clock, logger: given.logger, codec: given.codec, topics: topicNames('hookline') },
      ...{ policy: defaultPolicy, isStopped: () => false, pacedSkip },
      routing: () => given.routing,
      reader: {
        async readToEnd(_topic, onRecord, { from = [], onRemoved } = {}) {
          let position = from[0] ?? 0
          const noteRemoved = (next: number): void => {
            if (position < beginning && beginning <= next) onRemoved?.(0, beginning)
          }
          for (const record of records.filter(({ offset }) => offset >= position)) {
            noteRemoved(record.offset)
            await onRecord(record)
            position = record.offset + 1
          }
          noteRemoved(Number.POSITIVE_INFINITY)
          return records.length
        },
      },
    },
    resendJob('r', { destination: 'late', ...job }),
    owned,
  )
  return Object.assign(given, { clock, outcome, changed, settle: () => new Promise<void>(setImmediate) })
}

it('waits for a destination that only the process that created the job knows yet', async () => {
  const resend = startResend()
  await resend.clock.advance(2_000, resend.settle)
  expect(resend.sent).toEqual([])
  resend.routing = routingOf('late')
  await resend.clock.advance(1_000, resend.settle)
  expect([await resend.outcome, resend.sent]).toEqual([{}, [0]])
})

it('fails when the destination is not there after 10 s', async () => {
  const resend = startResend()
  await resend.clock.advance(11_000, resend.settle)
  expect(await resend.outcome).toEqual({
    error: 'destination late is not in the configuration: configure it, then create the resend again',
  })
})

it.each([
  ['may be in a file that cannot be read', { ...routingOf(), isIncomplete: true }],
  [
    'is in a damaged file',
    createRouting({ sources: [sourceOf('web')], destinations: [placeholderDestination('late')] }),
  ],
])('waits while the destination %s', async (_, routing) => {
  const resend = startResend({}, [eventAt(0)], routing)
  await resend.clock.advance(60_000, resend.settle)
  expect(resend.changed()).toMatchObject({
    error: expect.stringContaining('cannot read the configuration of destination late'),
  })

  resend.routing = routingOf('late')
  await resend.clock.advance(60_000, resend.settle)
  expect([await resend.outcome, resend.sent, resend.changed().error]).toEqual([{}, [0], undefined])
})

it('continues after an outage of the schema registry, and has its error until then', async () => {
  const unknown = eventAt(1, { value: Buffer.from(`schema:7:${codec.encode(eventOf())}`) })
  const resend = startResend({}, [eventAt(0), unknown, eventAt(2)], routingOf('late'))
  resend.codec.registryIsDown = true
  await resend.clock.advance(3_600_000, resend.settle)
  expect(resend.sent).toEqual([0])
  expect(resend.changed()).toMatchObject({ error: 'registry is down', next: [1], progress: { read: 1, sent: 1 } })

  resend.codec.registryIsDown = false
  await resend.clock.advance(61_000, resend.settle)
  expect([await resend.outcome, resend.sent]).toEqual([{}, [0, 1, 2]])
  expect(resend.changed()).toMatchObject({ error: undefined, next: [3], progress: { read: 3, sent: 3 } })
})

const refusal = (code: string): Error => Object.assign(new Error(`refused with ${code}`), { code })

it('has the error of a retry topic that it cannot write to until it can, and logs the error once', async () => {
  const resend = startResend({}, [eventAt(0), eventAt(1)], routingOf('late'))
  resend.refusalOf = offset => (offset === 1 ? refusal('TOPIC_AUTHORIZATION_FAILED') : undefined)
  await resend.clock.advance(5_000, resend.settle)
  expect(resend.changed()).toMatchObject({ error: 'refused with TOPIC_AUTHORIZATION_FAILED' })
  const fields = {
    kind: 'resend',
    id: 'r',
    topic: 'hookline.retry.10s',
    error: 'refused with TOPIC_AUTHORIZATION_FAILED',
  }
  expect(resend.logger.lines).toEqual([{ level: 'warn', fields, line: expect.stringContaining('tries again') }])

  resend.refusalOf = () => undefined
  await resend.clock.advance(2_000, resend.settle)
  expect([await resend.outcome, resend.sent]).toEqual([{}, [0, 1]])
  expect(resend.changed()).toMatchObject({ error: undefined, progress: { read: 2, sent: 2 } })
  expect(resend.logger.lines).toHaveLength(1)
})

it('has no error when the producer withdraws events, because the lease of the job has expired', async () => {
  const resend = startResend({}, [eventAt(0)], routingOf('late'))
  resend.refusalOf = () => refusal('HELD_BACK')
  await resend.clock.advance(5_000, resend.settle)
  expect([resend.changed(), resend.logger.lines]).toEqual([{}, []])

  resend.refusalOf = () => undefined
  await resend.clock.advance(2_000, resend.settle)
  expect([await resend.outcome, resend.sent]).toEqual([{}, [0]])
})

it('counts the events that are too large for the retry topic, and logs the first one', async () => {
  const resend = startResend(
    { progress: { read: 9, total: 12, sent: 8, skipped: 1 } },
    [0, 1, 2].map(offset => eventAt(offset)),
    routingOf('late'),
  )
  resend.refusalOf = offset => (offset === 0 ? undefined : refusal('MESSAGE_TOO_LARGE'))
  await resend.clock.advance(1_000, resend.settle)
  expect([await resend.outcome, resend.sent]).toEqual([{}, [0]])
  expect(resend.changed()).toMatchObject({ progress: { read: 12, sent: 9, skipped: 1, tooLarge: 2 } })
  const fields = { kind: 'resend', id: 'r', topic: 'hookline.events', partition: 0, offset: 1 }
  expect(resend.logger.lines).toEqual([{ level: 'warn', fields, line: expect.stringContaining('too large') }])
})

describe('events that are read and not sent', () => {
  function startReading(count: number, job: Partial<ResendJob>) {
    const records = Array.from({ length: count }, (_, offset) => eventAt(offset))
    const resend = startResend(job, records, routingOf('late'))
    const read = { count: 0 }
    resend.codec.decode = value => {
      read.count++
      return codec.decode(value)
    }
    return { resend, read }
  }

  it('do not block other work of the process for more than about 10 ms', async () => {
    const { resend, read } = startReading(50, { types: ['page'] })
    // Each event takes 1 ms.
    resend.clock.monotonic = () => read.count
    const readPerTurn: number[] = []
    while (read.count < 50) {
      const before = read.count
      await resend.settle()
      readPerTurn.push(read.count - before)
    }
    expect([await resend.outcome, Math.max(...readPerTurn)]).toEqual([{}, 10])
  })

  it.each<[string, Partial<ResendJob>]>([
    ['because of their type', { types: ['page'] }],
    ['in a dry run', { isDryRun: true }],
  ])('%s are limited to 20,000 per second', async (_, job) => {
    const { resend, read } = startReading(200, job)
    await resend.clock.advance(5, resend.settle)
    expect(Math.abs(read.count - 100)).toBeLessThan(5)
    await resend.clock.advance(1_000, resend.settle)
    expect([await resend.outcome, read.count]).toEqual([{}, 200])
  })
})

it('limits all jobs of a process together', async () => {
  const clock = new ManualClock()
  const pacedSkip = createSkipPacer(clock)
  const records = Array.from({ length: 200 }, (_, offset) => eventAt(offset))
  const jobs = [1, 2].map(() => startResend({ isDryRun: true }, records, routingOf('late'), 0, clock, pacedSkip))
  const decoded = { count: 0 }
  for (const job of jobs)
    job.codec.decode = value => {
      decoded.count++
      return codec.decode(value)
    }
  await clock.advance(5, () => new Promise<void>(setImmediate))
  expect(Math.abs(decoded.count - 100)).toBeLessThan(5)
})

it('counts large events by their KiB', async () => {
  const value = codec.encode(eventOf({ message: messageOf({ anonymousId: 'x'.repeat(10 * 1_024) }) }))
  const records = Array.from({ length: 100 }, (_, offset) => eventAt(offset, { value }))
  const resend = startResend({ isDryRun: true }, records, routingOf('late'))
  const decoded = { count: 0 }
  resend.codec.decode = bytes => {
    decoded.count++
    return codec.decode(bytes)
  }
  await resend.clock.advance(5, resend.settle)
  expect(Math.abs(decoded.count - 10)).toBeLessThan(3)
})

it.each<[string, readonly LogRecord[], readonly number[]]>([
  ['before the job begins', [eventAt(3), eventAt(4)], [3, 4]],
  ['after the job has read the first ones', [eventAt(0), eventAt(1), eventAt(3)], [0, 1, 3]],
  ['to the end of the time span', [], []],
])('names the partition from which retention removes events %s', async (_, records, sent) => {
  const resend = startResend({ missing: [{ partition: 1, firstOffset: 7 }] }, records, routingOf('late'), 3)
  await resend.clock.advance(1_000, resend.settle)
  expect([await resend.outcome, resend.sent]).toEqual([{}, sent])
  expect(resend.changed()).toMatchObject({
    ...{ next: [(sent.at(-1) ?? 2) + 1], readFrom: [3], progress: { read: sent.length } },
    missing: [
      { partition: 1, firstOffset: 7 },
      { partition: 0, firstOffset: 3 },
    ],
  })
})

it('names no partition when retention removes nothing', async () => {
  const resend = startResend({}, [eventAt(0), eventAt(2)], routingOf('late'))
  await resend.clock.advance(1_000, resend.settle)
  expect(await resend.outcome).toEqual({})
  expect(resend.changed()).not.toHaveProperty('missing')
})

describe('an event and the copy of it that a replay wrote', () => {
  const copy = eventAt(3, { headers: { 'replay-of': 'hookline.events/0/1/0' } })
  const later = eventAt(4)

  it.each<[string, Partial<ResendJob>, readonly LogRecord[], readonly number[], number, number]>([
    [
      'both in the time span: once',
      { next: [0] },
      [eventAt(0), eventAt(1), eventAt(2), copy, later],
      [0, 1, 2, 4],
      0,
      0,
    ],
    [
      'the event is the first one of the time span',
      { next: [1] },
      [eventAt(1), eventAt(2), copy, later],
      [1, 2, 4],
      1,
      0,
    ],
    ['the event is before the time span: the copy', { next: [2] }, [eventAt(2), copy, later], [2, 3, 4], 2, 0],
    ['retention has removed the event: the copy', { next: [0] }, [eventAt(2), copy, later], [2, 3, 4], 2, 2],
    ['the marker of a transaction follows the event: once', { next: [0] }, [eventAt(1), copy, later], [1, 4], 0, 0],
    ['another process has sent the event', { next: [2], readFrom: [1] }, [eventAt(2), copy, later], [2, 4], 1, 0],
    [
      'another process has not read the event',
      { next: [2], readFrom: [2] },
      [eventAt(2), copy, later],
      [2, 3, 4],
      2,
      0,
    ],
  ])('%s', async (_, job, records, sent, readFrom, beginning) => {
    const resend = startResend(job, records, routingOf('late'), beginning)
    await resend.clock.advance(1_000, resend.settle)
    expect([await resend.outcome, resend.sent]).toEqual([{}, sent])
    expect(resend.changed()).toMatchObject({
      ...{ next: [5], readFrom: [readFrom] },
      progress: { read: records.length, sent: sent.length, skipped: records.length - sent.length },
    })
  })
})
