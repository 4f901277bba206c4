import { describe, expect, it } from '@jest/globals'
import { createRouting } from '../../../../src/core/delivery/route.ts'
import type { TopicReader } from '../../../../src/core/ports.ts'
import type { CallResult } from '../../../../src/core/webhook-ports.ts'
import { replayDeadLetters } from '../../../../src/services/operator/replay-dead-letters.ts'
import { defaultPolicy, duration, sourceOf } from '../../../support/builders.ts'
import { trackMessage } from '../../../support/collector/normalised-track-message.ts'
import { answered, DispatcherHarness, destination, ok } from '../../../support/dispatcher/harness.ts'

/** `crm` responds as `answers` says, and `shop` accepts everything. */
async function started(answers: { crm: CallResult }) {
  const destinations = [destination('crm'), destination('shop')]
  const harness = await DispatcherHarness.started({
    destinations,
    answer: ({ url }) => (url.includes('crm') ? answers.crm : ok),
  })
  const { clock, log, topics } = harness
  const reader: TopicReader = {
    readToEnd: async (topic, onRecord) => {
      const records = log.records(topic).slice()
      for (const record of records) await onRecord(record)
      return records.length
    },
  }
  const replay = async () => {
    const context = {
      topics,
      routing: createRouting({ sources: [sourceOf('web')], destinations: harness.destinations }),
      policy: defaultPolicy,
    }
    const inputs = () => Promise.reject(new Error('nothing here is of an audience'))
    const events = async () => harness.codec
    const countPartitions = async () => log.partitionNumbers.length
    const deps = { reader, producer: log.producer(), clock, context, events, inputs, countPartitions }
    const report = replayDeadLetters(deps, { filter: {}, signal: new AbortController().signal })
    await harness.advance(0)
    return report
  }
  /** The requests since the last call, as `destination message-id`. */
  const calls = (): string[] =>
    harness.calls.splice(0).map(({ call }) => `${new URL(call.url).host.split('.')[0]} ${call.headers['X-Message-Id']}`)
  const deadLetters = (): unknown[] =>
    log.records(topics.deadLetter).map(({ key, value }) => [String(key), value !== null])
  return { harness, replay, calls, deadLetters }
}

describe('a replayed dead letter', () => {
  it('is delivered when its tier is due, only to its destination, with the same id', async () => {
    const answers = { crm: answered(404) }
    const { harness, replay, calls } = await started(answers)
    harness.write({ message: trackMessage('m1') })
    await harness.advance(duration('2h'))
    expect(calls().toSorted()).toEqual(['crm m1', 'shop m1'])
    answers.crm = ok
    expect(await replay()).toMatchObject({ total: 1, replayed: 1 })
    await harness.advance(9_999)
    expect(calls()).toEqual([])
    await harness.advance(1)
    expect(calls()).toEqual(['crm m1'])
    expect(await replay()).toMatchObject({ total: 0 })
    await harness.advance(duration('5h'))
    expect(calls()).toEqual([])
  })

  it('is retried for a whole window, and becomes a new dead letter when that fails', async () => {
    const { harness, replay, calls, deadLetters } = await started({ crm: answered(503) })
    harness.write({ message: trackMessage('m1') })
    await harness.advance(duration('5h'))
    expect(calls().filter(call => call === 'crm m1')).toHaveLength(10)
    await replay()
    await harness.advance(duration('5h'))
    expect(calls()).toEqual(Array(10).fill('crm m1'))
    expect(deadLetters()).toEqual([
      ['crm/hookline.events/0/0/1772323200000/0', true],
      ['crm/hookline.events/0/0/1772323200000/0', false],
      ['crm/hookline.events/0/0/1772323200000/1', true],
    ])
    expect(await replay()).toMatchObject({ total: 1, replayed: 1 })
  })

  it('is delivered to a destination that was removed for a while', async () => {
    const { harness, replay, calls } = await started({ crm: answered(500) })
    harness.write({ message: trackMessage('m1') })
    await harness.advance(0)
    const [crm, ...others] = harness.destinations
    harness.destinations = others
    // The retry is deferred once, for a minute: another process may know the destination.
    await harness.advance(duration('71s'))
    calls()
    expect(await replay()).toMatchObject({ total: 1, replayed: 0, rows: [{ reason: 'unknown_destination' }] })
    harness.destinations = [crm!, ...others]
    expect(await replay()).toMatchObject({ total: 1, replayed: 1 })
    await harness.advance(duration('10s'))
    expect(calls()).toEqual(['crm m1'])
  })

  it('is dead-lettered again when its source is still unknown, with its original position', async () => {
    const { harness, replay, calls } = await started({ crm: ok })
    const value = Buffer.from(JSON.stringify({ sourceId: 'late', canonical: true, message: trackMessage('m1') }))
    harness.log.write(harness.topics.events, value, 'user-1')
    // The event is deferred each time before it is dead-lettered, because the configuration may
    // still change.
    await harness.advance(duration('101s'))
    expect(await replay()).toMatchObject({ total: 1, replayed: 1, rows: [{ reason: 'unknown_source' }] })
    await harness.advance(duration('101s'))
    expect(await replay()).toMatchObject({ total: 1, replayed: 1, rows: [{ reason: 'unknown_source' }] })
    const copies = harness.log.records(harness.topics.events)
    expect(copies.map(({ key, headers }) => [String(key), headers['replay-of']?.slice(0, 20)])).toEqual([
      ['user-1', undefined],
      ['user-1', 'hookline.events/0/0/'],
      ['user-1', 'hookline.events/0/0/'],
    ])
    expect(calls()).toEqual([])
  })

  it.each([5, 29])('is not delivered after its user was deleted, also when it is replayed on day %i', async days => {
    const answers = { crm: answered(404) }
    const { harness, replay, calls } = await started(answers)
    for (const userId of ['ann', 'bob']) harness.write({ message: trackMessage(`of ${userId}`, { userId }) })
    await harness.advance(duration('1m'))
    harness.mark('ann', { source: undefined, deletedAt: harness.clock.now(), isSuppressed: false })
    // A jump of the clock runs no timers, so the test is fast.
    harness.clock.suspend(duration(`${days * 24}h`))
    await Promise.all([harness.marks.compact(100), harness.advance(duration('1s'))])
    calls()
    answers.crm = ok
    expect(await replay()).toMatchObject({ total: 2, replayed: 2 })
    await harness.advance(duration('1m'))
    expect(calls()).toEqual(['crm of bob'])
    expect(harness.count('drops{user_deleted}')).toBe(1)
  })
})
