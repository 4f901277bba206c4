import { beforeEach, describe, expect, it } from '@jest/globals'
import { encodeSuppressions, mergeSuppressions, type Suppression } from '../../../../src/core/deletion/suppressions.ts'
import type { TopicFollower } from '../../../../src/core/ports.ts'
import { durationMs, type EpochMs, epochMs } from '../../../../src/core/time.ts'
import { createSuppressionList, type SuppressionList } from '../../../../src/services/deletion/suppression-list.ts'
import { recordOf } from '../../../support/builders.ts'
import type { MemoryFollower } from '../../../support/kafka/memory-follower.ts'
import { MemoryLog } from '../../../support/kafka/memory-log.ts'
import { ScriptedFollower } from '../../../support/kafka/scripted-follower.ts'
import { ManualClock } from '../../../support/manual-clock.ts'
import { RecordingLogger } from '../../../support/telemetry/recording-logger.ts'

const topic = 'suppressions'

let clock: ManualClock
let log: MemoryLog
let logger: RecordingLogger
let follower: MemoryFollower
let marks: SuppressionList

/** Time for which the list keeps suppressions in these tests. The default is 53 days. */
const retention = durationMs(30 * 24 * 3_600_000)

const process = () => processWith(log.follower(topic))

async function processWith<T extends TopicFollower>(own: T): Promise<{ marks: SuppressionList; follower: T }> {
  const created = createSuppressionList({ follower: own, producer: log.producer(), topic, retention, clock, logger })
  await created.start()
  return { marks: created, follower: own }
}

const deletedAt = (at: EpochMs, isSuppressed = false, source?: string): Suppression => ({
  source,
  deletedAt: at,
  isSuppressed,
})
const write = (userId: string, ...list: Suppression[]): void =>
  log.write(topic, list.length === 0 ? null : Buffer.from(encodeSuppressions(list)), userId)
const about = (userId: string, receivedAt = clock.now()) => ({ userId, sourceId: 'web', receivedAt })

beforeEach(async () => {
  clock = new ManualClock()
  log = new MemoryLog(clock)
  logger = new RecordingLogger()
  ;({ marks, follower } = await process())
})

describe('the suppression list', () => {
  it('has all records of the topic after the start', async () => {
    write('ada', deletedAt(clock.now()))
    const { marks } = await process()
    expect(marks.size).toBe(1)
    expect(marks.stops(about('ada'), clock.now())).toBe('user_deleted')
    expect(marks.stops(about('bob'), clock.now())).toBeUndefined()
  })

  it('has the last record of each user', () => {
    write('ada', deletedAt(clock.now(), true))
    log.poll()
    expect(marks.stops(about('ada', epochMs(clock.now() + 1)), clock.now())).toBe('suppressed')
    write('ada')
    log.poll()
    expect(marks.stops(about('ada'), clock.now())).toBeUndefined()
    expect(marks.size).toBe(0)
  })

  it.each([
    ['bytes that cannot be decoded', () => log.write(topic, Buffer.from('{"marks":7}'), 'ada'), /read the user id /],
    ['a record without a key', () => log.write(topic, Buffer.from(encodeSuppressions([])), null), /has no key/],
  ])('is not changed by %s, which is logged', (_, foreign, line) => {
    write('ada', deletedAt(clock.now()))
    foreign()
    log.poll()
    expect(marks.get('ada')).toEqual([deletedAt(clock.now())])
    expect(logger.lines).toMatchObject([
      { level: 'error', line: expect.stringMatching(line), fields: { topic, partition: 0, offset: 1 } },
    ])
  })
})

describe('the list after a truncation of one partition', () => {
  const at = (offset: number, partition: number, key: string, basedOn: number, ...list: Suppression[]) =>
    recordOf({
      ...{ topic, partition, offset, key: Buffer.from(key), headers: { 'made-of': String(basedOn) } },
      value: list.length === 0 ? null : Buffer.from(encodeSuppressions(list)),
    })

  it('has the users of the new log when the follower has read it to its end, and until then the previous ones', async () => {
    const scripted = new ScriptedFollower()
    const { marks } = await processWith(scripted)
    const now = clock.now()
    const [suppressed, lifted] = [deletedAt(now, true), deletedAt(now)]
    scripted.deliver(at(0, 1, 'dan', -1, suppressed), at(0, 0, 'ada', -1, suppressed), at(1, 0, 'ada', 0, lifted))
    scripted.deliver(at(2, 0, 'bob', -1, suppressed))
    scripted.becomeCurrent()
    scripted.truncate(0)
    scripted.deliver(at(0, 0, 'ada', -1, suppressed), at(1, 0, 'ada', 0, lifted), at(2, 0, 'cleo', -1, suppressed))
    const all = () => ['ada', 'bob', 'cleo', 'dan'].map(user => marks.get(user))
    expect(all()).toEqual([[lifted], [suppressed], undefined, [suppressed]])
    scripted.becomeCurrent()
    expect(all()).toEqual([[lifted], undefined, [suppressed], [suppressed]])
    expect(await marks.compact(10)).toBe(0)
  })
})

describe('the age of the list', () => {
  it('makes it not current after 5 s without an answer, and notifies listeners when it is again', async () => {
    const notified: number[] = []
    marks.onCurrent(() => notified.push(clock.now()))
    follower.isCutOff = true
    await clock.advance(4_999)
    expect(marks.isCurrent()).toBe(true)
    await clock.advance(1)
    expect(marks.isCurrent()).toBe(false)
    expect(marks.age()).toBe(5_000)
    expect(notified).toEqual([])
    follower.isCutOff = false
    log.poll()
    log.poll()
    expect(marks.isCurrent()).toBe(true)
    expect(notified).toEqual([clock.now()])
  })

  it('is infinite before the start', () => {
    const { isCurrent, age } = createSuppressionList({
      follower,
      producer: log.producer(),
      topic,
      retention,
      clock,
      logger,
    })
    expect(isCurrent()).toBe(false)
    expect(age()).toBe(Number.POSITIVE_INFINITY)
  })
})

describe('changes', () => {
  /** Lets the log acknowledge writes and deliver records until none are left. */
  const settle = async (): Promise<void> => {
    while (log.poll()) await new Promise(resolve => setImmediate(resolve))
  }
  const deleting = (mark: Suppression) => (held?: readonly Suppression[]) => mergeSuppressions(held, [mark])

  it('resolve when they are acknowledged and read back', async () => {
    let isDone = false
    const update = marks.update('ada', deleting(deletedAt(clock.now()))).then(() => (isDone = true))
    follower.isCutOff = true
    await settle()
    expect(log.records(topic)).toHaveLength(1)
    expect(isDone).toBe(false)
    follower.isCutOff = false
    await settle()
    await update
    expect(marks.get('ada')).toEqual([deletedAt(clock.now())])
    expect(clock.timers).toBe(0)
  })

  it('from nothing to nothing are not written', async () => {
    await marks.update('ada', held => held)
    expect(log.records(topic)).toEqual([])
  })

  it('reject when the topic is not writable', async () => {
    log.unwritable.add(topic)
    const update = marks.update('ada', deleting(deletedAt(clock.now())))
    log.poll()
    await expect(update).rejects.toThrow('suppressions is not writable')
  })

  it('reject when they are not read back within 10 s', async () => {
    follower.isCutOff = true
    const update = marks.update('ada', deleting(deletedAt(clock.now())))
    const refused = expect(update).rejects.toThrow(
      'suppressions: Hookline did not read its new record back within 10 s, so the record may or may not be stored; check Kafka, then check whether the change is in force',
    )
    await clock.advance(10_000, settle)
    await refused
  })

  it('are not written again when they are read back after the 10 s', async () => {
    const other = await process()
    const now = clock.now()
    follower.isCutOff = true
    const first = other.marks.update('ada', deleting(deletedAt(now, true, 'web')))
    const rejected = expect(marks.update('ada', deleting(deletedAt(now, false, 'app')))).rejects.toMatchObject({
      ...{ code: 'NOT_READ_BACK', retriable: true },
    })
    await clock.advance(10_000, settle)
    await Promise.all([first, rejected])
    follower.isCutOff = false
    await settle()
    expect(log.records(topic)).toHaveLength(2)
    for (const each of [marks, other.marks])
      expect(each.get('ada')).toEqual([deletedAt(now, true, 'web'), deletedAt(now, false, 'app')])
  })

  it('by two processes concurrently both take effect', async () => {
    const other = await process()
    const now = clock.now()
    const both = [
      marks.update('ada', deleting(deletedAt(now, true, 'web'))),
      other.marks.update('ada', deleting(deletedAt(now, false, 'app'))),
    ]
    await settle()
    await Promise.all(both)
    const all = [deletedAt(now, true, 'web'), deletedAt(now, false, 'app')]
    expect(marks.get('ada')).toEqual(all)
    expect(other.marks.get('ada')).toEqual(all)
  })

  it('that lose against a tombstone leave the same list in each process', async () => {
    const other = await process()
    const now = clock.now()
    write('ada', deletedAt(now, true, 'web'))
    await settle()
    const both = [
      other.marks.update('ada', () => undefined),
      marks.update('ada', deleting(deletedAt(now, false, 'app'))),
    ]
    await settle()
    await Promise.all(both)
    const started = await process()
    const all = [deletedAt(now, true, 'web'), deletedAt(now, false, 'app')]
    for (const each of [marks, other.marks, started.marks]) expect(each.get('ada')).toEqual(all)
    expect(await marks.compact(10)).toBe(0)
    expect(await other.marks.compact(10)).toBe(0)
  })

  it('by one process concurrently both take effect', async () => {
    const now = clock.now()
    const both = ['web', 'app'].map(source => marks.update('ada', deleting(deletedAt(now, false, source))))
    await settle()
    await Promise.all(both)
    expect(marks.get('ada')).toEqual([deletedAt(now, false, 'web'), deletedAt(now, false, 'app')])
  })

  it('keep a suppression when a second writer dies before it reads its record back, also after compaction', async () => {
    const now = clock.now()
    const update = marks.update('ada', deleting(deletedAt(now, true)))
    await settle()
    await update
    const dead = encodeSuppressions([deletedAt(now)])
    log.write(topic, Buffer.from(dead), 'ada', { write: 'of the dead one', 'made-of': '-1' })
    await settle()
    const later = about('ada', epochMs(now + 1))
    const { marks: started } = await process()
    for (const each of [marks, started]) expect(each.stops(later, clock.now())).toBe('suppressed')
    const tidied = marks.compact(10)
    await settle()
    expect(await tidied).toBe(1)
    expect(String(log.records(topic).at(-1)?.value)).toBe(encodeSuppressions([deletedAt(now, true)]))
    expect(await marks.compact(10)).toBe(0)
  })

  it('by a compaction remove only what has expired, and keep a concurrent deletion', async () => {
    const old = clock.now()
    write('ada', deletedAt(old))
    write('bob', deletedAt(old), deletedAt(old, true, 'web'))
    write('cleo', deletedAt(old))
    await clock.advance(durationMs(retention + 1), settle)
    write('dan', deletedAt(clock.now()))
    log.poll()
    const other = await process()
    const again = deletedAt(clock.now())
    const both = [other.marks.update('cleo', deleting(again)), marks.compact(10)]
    await settle()
    expect((await Promise.all(both))[1]).toBe(3)
    for (const each of [marks, other.marks]) {
      expect(['ada', 'bob', 'cleo', 'dan'].map(user => each.get(user))).toEqual([
        undefined,
        [deletedAt(old, true, 'web')],
        [again],
        [again],
      ])
      expect(each.size).toBe(3)
    }
    expect(await marks.compact(10)).toBe(0)
  })

  it('by a compaction affect at most the given number of users', async () => {
    for (const user of ['ada', 'bob', 'cleo']) write(user, deletedAt(clock.now()))
    await clock.advance(durationMs(retention + 1), settle)
    const tidied = marks.compact(2)
    await settle()
    expect(await tidied).toBe(2)
    expect(marks.size).toBe(1)
  })
})

it('the list is not current after the machine was suspended, until the topic is read again', async () => {
  log.poll()
  expect(marks.isCurrent()).toBe(true)
  clock.suspend(60_000)
  expect(marks.isCurrent()).toBe(false)
  log.poll()
  expect(marks.isCurrent()).toBe(true)
})
