import { describe, expect, it } from '@jest/globals'
import { deleteMessagesOf } from '../../../../src/core/deletion/deletion-request.ts'
import type { Event } from '../../../../src/core/message/event.ts'
import { epochMs } from '../../../../src/core/time.ts'
import { trackMessage } from '../../../support/collector/normalised-track-message.ts'
import { answered, DispatcherHarness, destination, ok } from '../../../support/dispatcher/harness.ts'

const minute = 60_000
const day = 24 * 60 * minute

const ids = (harness: DispatcherHarness) => harness.calls.map(({ call }) => call.headers['X-Message-Id'])

function deleteOf(harness: DispatcherHarness): Event {
  const sources = [{ id: 'web', destinations: ['crm'] }]
  const record = { id: 'd-1', createdAt: harness.clock.now(), users: 1, isSuppressed: false, sources }
  const [event] = deleteMessagesOf({ userIds: ['ada'], sources: undefined, suppress: false }, record)
  return event as Event
}

const track = (messageId: string, userId = 'ada') => ({ message: trackMessage(messageId, { userId }) })
const deletedBefore = (ms: number, { clock }: DispatcherHarness, isSuppressed = false) => ({
  source: undefined,
  deletedAt: epochMs(clock.now() - ms),
  isSuppressed,
})
const deletedNow = (harness: DispatcherHarness, isSuppressed = false) => deletedBefore(0, harness, isSuppressed)

describe('after a deletion', () => {
  it('earlier retries are dropped when due; other users and later events are delivered', async () => {
    const harness = await DispatcherHarness.started({ answer: () => answered(503) })
    harness.write(track('before'))
    harness.write(track('other', 'bob'))
    await harness.advance(1)
    harness.mark('ada', deletedNow(harness))
    await harness.advance(5_000)
    harness.calls.splice(0)
    harness.write(track('after'))
    await harness.advance(30_000)
    expect(new Set(ids(harness))).toEqual(new Set(['other', 'after']))
    expect(harness.count('drops{user_deleted}')).toBe(1)
    expect(harness.count('deliveries{crm,dropped}')).toBe(1)
    expect(harness.log.records(harness.topics.deadLetter)).toEqual([])
  })

  it('earlier events that are read for the first time are dropped', async () => {
    const harness = await DispatcherHarness.started()
    harness.mark('ada', deletedNow(harness))
    harness.write({ ...track('behind'), receivedAt: epochMs(harness.clock.now() - minute) })
    harness.write({ ...track('same instant') })
    await harness.advance(1)
    expect(ids(harness)).toEqual([])
    expect(harness.count('drops{user_deleted}')).toBe(2)
  })

  it('the delete itself is delivered, with retries', async () => {
    let isUp = false
    const harness = await DispatcherHarness.started({ answer: () => (isUp ? ok : answered(503)) })
    harness.mark('ada', deletedNow(harness, true))
    harness.write(deleteOf(harness))
    await harness.advance(minute)
    isUp = true
    await harness.advance(5 * minute)
    expect(harness.count('deliveries{crm,delivered}')).toBe(1)
    expect(harness.count('drops{user_deleted}')).toBe(0)
  })

  it('no event of a suppressed user is delivered until the suppression is lifted', async () => {
    const harness = await DispatcherHarness.started()
    harness.mark('ada', deletedBefore(5 * day, harness, true))
    harness.write(track('suppressed'))
    await harness.advance(1)
    expect(ids(harness)).toEqual([])
    expect(harness.count('drops{suppressed}')).toBe(1)
    harness.mark('ada', deletedNow(harness))
    await harness.advance(1)
    harness.write(track('welcome'))
    await harness.advance(1)
    expect(ids(harness)).toEqual(['welcome'])
  })

  it('the next process knows the deletion before its first attempt', async () => {
    const harness = await DispatcherHarness.started({ answer: () => 'never' })
    harness.write(track('before'))
    harness.mark('ada', deletedNow(harness))
    await harness.restart()
    await harness.advance(minute)
    expect(ids(harness)).toEqual([])
    expect(harness.count('drops{user_deleted}')).toBe(1)
  })

  it('deliveries that wait in memory are checked when they are due', async () => {
    // The wait of 15 s consists of 10 s in a retry topic and 5 s in memory.
    const harness = await DispatcherHarness.started({ answer: () => answered(503, '15') })
    harness.write(track('before'))
    await harness.advance(12_000)
    harness.mark('ada', deletedNow(harness))
    await harness.advance(minute)
    expect(ids(harness)).toEqual(['before'])
    expect(harness.count('drops{user_deleted}')).toBe(1)
  })
})

describe('while the suppression list is not current', () => {
  it('makes no attempt after 5 s; waiting deliveries go first, in order, when it is current again', async () => {
    const harness = await DispatcherHarness.started()
    harness.follower.isCutOff = true
    await harness.advance(4_999)
    harness.write(track('a'))
    await harness.advance(0)
    expect(ids(harness)).toEqual(['a'])
    await harness.advance(1)
    harness.write(track('b'))
    harness.write(track('c', 'bob'))
    harness.write(track('d'))
    harness.mark('bob', deletedNow(harness))
    await harness.advance(minute)
    expect(ids(harness)).toEqual(['a'])
    expect(harness.service.health().ready).toContainEqual({
      name: 'deletions',
      ok: false,
      detail:
        'the suppression list (deleted users) is 65000 ms out of date; no delivery attempt starts until this process has read all deletions',
    })
    harness.follower.isCutOff = false
    harness.write(track('e'))
    await harness.advance(1)
    expect(ids(harness)).toEqual(['a', 'b', 'd', 'e'])
    expect(harness.service.health().ready.filter(({ ok }) => !ok)).toEqual([])
  })
})

describe('expired deletions', () => {
  it('are removed from the topic by the owner of partition 0', async () => {
    const harness = await DispatcherHarness.started()
    // After a replay, a message from before the deletion can be delivered for up to 53 days after
    // the deletion.
    harness.mark('ada', deletedBefore(53 * day - 60 * minute, harness))
    await harness.advance(60 * minute)
    expect(harness.marks.size).toBe(1)
    await harness.advance(20 * minute)
    expect(harness.marks.size).toBe(0)
    expect(harness.log.records(harness.topics.suppressions).map(({ value }) => value === null)).toEqual([false, true])
  })

  it('are not removed by other processes or after the stop', async () => {
    const harness = await DispatcherHarness.started({ destinations: [destination('crm')] })
    harness.live.handlers?.onRevoked([{ topic: harness.topics.events, partition: 0 }])
    harness.mark('ada', deletedBefore(54 * day, harness))
    await harness.advance(60 * minute)
    expect(harness.marks.size).toBe(1)
    await harness.service.stop()
    expect(harness.clock.timers).toBe(0)
  })
})

it('a wrong receivedAt of a producer does not evade a deletion: the append time is the latest possible', async () => {
  const harness = await DispatcherHarness.started()
  harness.write({ ...track('from the future'), receivedAt: epochMs(harness.clock.now() + day) })
  harness.mark('ada', deletedNow(harness))
  await harness.advance(1)
  expect(ids(harness)).toEqual([])
  expect(harness.count('drops{user_deleted}')).toBe(1)
})
