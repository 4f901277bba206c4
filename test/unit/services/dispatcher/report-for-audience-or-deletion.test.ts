import { describe, expect, it } from '@jest/globals'
import { identifyOf } from '../../../../src/core/audience/identify-message.ts'
import type { AudienceInput } from '../../../../src/core/audience/input.ts'
import { decodeDeletion } from '../../../../src/core/deletion/deletion-record-and-status.ts'
import { deleteMessagesOf } from '../../../../src/core/deletion/deletion-request.ts'
import type { JsonText } from '../../../../src/core/message/canonical-json-text.ts'
import type { Event } from '../../../../src/core/message/event.ts'
import type { Destination } from '../../../../src/core/settings/settings.ts'
import { durationMs } from '../../../../src/core/time.ts'
import type { CallResult } from '../../../../src/core/webhook-ports.ts'
import type { DeliveryResult } from '../../../../src/services/dispatcher/report-for-audience-or-deletion.ts'
import { trackMessage } from '../../../support/collector/normalised-track-message.ts'
import { answered, DispatcherHarness, destination, ok } from '../../../support/dispatcher/harness.ts'

const hour = 3_600_000

const changeAt = ({ clock }: DispatcherHarness, to = 'crm'): Event =>
  identifyOf(
    { audience: 'Score', userId: 'ada', destination: to },
    'score',
    { version: 7, value: '12' as JsonText },
    clock.now(),
  )

function deletesAt({ clock }: DispatcherHarness, source = 'web'): Event {
  const sources = [{ id: source, destinations: ['crm', 'erp'] }]
  const record = { id: 'd-1', createdAt: clock.now(), users: 1, isSuppressed: false, sources }
  const [event] = deleteMessagesOf({ userIds: ['ada'], sources: undefined, suppress: false }, record)
  return event as Event
}

const outcome = (result: string, to = 'crm') => ({
  kind: 'outcome',
  audience: 'Score',
  userId: 'ada',
  destination: to,
  version: 7,
  value: '12',
  result,
})

const inputs = (harness: DispatcherHarness) => harness.written(harness.topics.audienceInput) as AudienceInput[]
const outcomes = ({ log, topics }: DispatcherHarness) =>
  log.records(topics.deletions).map(({ key, value }) => {
    const entry = decodeDeletion(String(key), String(value))
    return entry?.kind === 'outcome' && `${entry.outcome.destination} ${entry.outcome.reason ?? entry.outcome.result}`
  })
const done = ({ log, topics }: DispatcherHarness) => log.committed('live', topics.events)
/**
 * The committed offset of the retry topic of one minute, the last one in which an event of an
 * unknown source waits.
 */
const held = (harness: DispatcherHarness): number =>
  harness.log.committed('retries', harness.topics.retry(durationMs(60_000)))

interface Case {
  readonly answer?: () => CallResult
  readonly crm?: Partial<Destination>
  readonly to?: string
  readonly isDeleted?: boolean
}

describe('a membership update is reported once, with any result', () => {
  it.each<[end: DeliveryResult, given: Case]>([
    ['delivered', {}],
    ['http_4xx', { answer: () => answered(404) }],
    ['retries_exhausted', { answer: () => answered(503) }],
    ['disabled', { crm: { enabled: false } }],
    ['retry_window_over', { crm: { paused: true } }],
    ['unknown_destination', { to: 'gone' }],
    ['user_deleted', { isDeleted: true }],
  ])('%s', async (end, { answer = () => ok, crm, to = 'crm', isDeleted = false }) => {
    const harness = await DispatcherHarness.started({ destinations: [destination('crm', crm)], answer })
    if (isDeleted) harness.mark('ada', { source: undefined, deletedAt: harness.clock.now(), isSuppressed: false })
    harness.write(changeAt(harness, to))
    await harness.advance(5 * hour)
    expect(inputs(harness)).toEqual([outcome(end === 'delivered' ? 'delivered' : 'undelivered', to)])
    // The key is the user id, so the report is in the partition of the user's memberships.
    expect(harness.log.records(harness.topics.audienceInput)[0]?.key).toEqual(Buffer.from('ada'))
    expect(done(harness)).toBe(1)
  })
})

describe('a delete is reported for each destination', () => {
  it('delivered at one, dead-lettered at the other', async () => {
    const harness = await DispatcherHarness.started({
      destinations: [destination('crm'), destination('erp')],
      answer: ({ url }) => (url.includes('crm') ? ok : answered(404)),
    })
    harness.write(deletesAt(harness))
    await harness.advance(1)
    expect(outcomes(harness)).toEqual(['crm delivered', 'erp http_4xx'])
    expect(done(harness)).toBe(1)
  })

  it.each<[string, Partial<Destination>[], string[], deadLetters: number, source: string]>([
    [
      'its source was removed (so it is dead-lettered)',
      [{}, {}],
      ['crm unknown_source', 'erp unknown_source'],
      1,
      'gone',
    ],
    ['its source has no destination', [], ['crm no_destination', 'erp no_destination'], 0, 'web'],
    ['one was removed', [{}], ['crm delivered', 'erp no_destination'], 0, 'web'],
    ['one was disconnected', [{}, { sources: ['app'] }], ['crm delivered', 'erp no_destination'], 0, 'web'],
    ['one was disconnected and one disabled', [{ enabled: false }], ['crm disabled', 'erp no_destination'], 0, 'web'],
  ])('also when %s before it was routed', async (_, given, expected, deadLetters, source) => {
    const destinations = given.map((override, index) => destination(['crm', 'erp'][index] as string, override))
    const harness = await DispatcherHarness.started({ destinations })
    harness.write(deletesAt(harness, source))
    await harness.advance(source === 'gone' ? 110_000 : 1)
    expect(outcomes(harness).toSorted()).toEqual(expected)
    expect(harness.log.records(harness.topics.deadLetter)).toHaveLength(deadLetters)
    expect(done(harness)).toBe(1)
  })

  it('once, when the source is removed after one destination is done and the partition has moved', async () => {
    const harness = await DispatcherHarness.started({
      destinations: [destination('crm'), destination('erp')],
      answer: ({ url }) => (url.includes('crm') ? ok : 'never'),
    })
    harness.write(deletesAt(harness))
    await harness.advance(1)
    harness.sources = []
    await harness.restart()
    await harness.advance(110_000)
    expect(outcomes(harness)).toEqual(['crm delivered', 'erp unknown_source'])
  })

  it('is not written when it is too large for its topic, and does not stop the partition', async () => {
    const harness = await DispatcherHarness.started()
    harness.log.maxBytes.set(harness.topics.deletions, 10)
    harness.write(deletesAt(harness))
    await harness.advance(60_000)
    expect([outcomes(harness), done(harness)]).toEqual([[], 1])
  })

  it('only after its dead letter is written, and before its offset is committed', async () => {
    const harness = await DispatcherHarness.started()
    harness.log.unwritable.add(harness.topics.deadLetter)
    harness.write(deletesAt(harness, 'gone'))
    await harness.advance(110_000)
    expect([outcomes(harness), held(harness)]).toEqual([[], 0])
    harness.log.unwritable.clear()
    harness.log.unwritable.add(harness.topics.deletions)
    await harness.advance(30_000)
    expect([outcomes(harness), held(harness)]).toEqual([[], 0])
    harness.log.unwritable.clear()
    await harness.advance(30_000)
    expect([outcomes(harness), held(harness)]).toEqual([['crm unknown_source', 'erp unknown_source'], 1])
  })
})

describe('the record is done', () => {
  it('only when its report is acknowledged; until then the topic is shown as not writable', async () => {
    const harness = await DispatcherHarness.started()
    harness.log.unwritable.add(harness.topics.audienceInput)
    harness.write(changeAt(harness))
    await harness.advance(10_000)
    expect(harness.calls).toHaveLength(1)
    expect(done(harness)).toBe(0)
    expect(harness.count('deliveries{crm,delivered}')).toBe(0)
    expect(harness.service.health().ready).toContainEqual(
      expect.objectContaining({
        name: 'topics',
        ok: false,
        detail: expect.stringContaining('hookline.audience-input'),
      }),
    )
    harness.log.unwritable.clear()
    await harness.advance(20_000)
    expect(inputs(harness)).toEqual([outcome('delivered')])
    expect(done(harness)).toBe(1)
    expect(harness.count('deliveries{crm,delivered}')).toBe(1)
  })

  it('and counted as a drop only when its report is acknowledged, so the next owner does not count it again', async () => {
    const harness = await DispatcherHarness.started({ destinations: [destination('crm', { enabled: false })] })
    harness.log.unwritable.add(harness.topics.audienceInput)
    harness.write(changeAt(harness))
    await harness.advance(10_000)
    expect(harness.count('drops{disabled}')).toBe(0)
    harness.live.rebalance()
    harness.log.unwritable.clear()
    await harness.advance(20_000)
    expect(inputs(harness)).toEqual([outcome('undelivered')])
    expect(harness.count('drops{disabled}')).toBe(1)
  })

  it('after its dead letter and then its report are acknowledged', async () => {
    const harness = await DispatcherHarness.started({ answer: () => answered(404) })
    harness.log.unwritable.add(harness.topics.deadLetter)
    harness.write(changeAt(harness))
    await harness.advance(10_000)
    expect(inputs(harness)).toEqual([])
    harness.log.unwritable.clear()
    await harness.advance(20_000)
    expect(inputs(harness)).toEqual([outcome('undelivered')])
    expect(harness.log.records(harness.topics.deadLetter)).toHaveLength(1)
    expect(done(harness)).toBe(1)
  })

  it('immediately for events from SDKs, also when no report can be written', async () => {
    const harness = await DispatcherHarness.started()
    harness.log.unwritable.add(harness.topics.audienceInput).add(harness.topics.deletions)
    harness.write({ message: trackMessage('m1') })
    await harness.advance(1)
    expect(done(harness)).toBe(1)
  })
})
