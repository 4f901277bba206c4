import { describe, expect, it } from '@jest/globals'
import { parseDeliveryState } from '../../../../src/core/delivery/delivery-state.ts'
import { parseDeadLetter } from '../../../../src/core/delivery/parse-dead-letter.ts'
import { trackMessage } from '../../../support/collector/normalised-track-message.ts'
import { answered, DispatcherHarness, defaultSchedule } from '../../../support/dispatcher/harness.ts'

const kibibyte = 1024
const large = Buffer.alloc(200 * kibibyte, 'x')

describe('a record that is too large for the dead-letter topic', () => {
  it('is written there truncated, with its position and length, and does not block the partition', async () => {
    const harness = await DispatcherHarness.started()
    const { topics, log } = harness
    log.maxBytes.set(topics.deadLetter, 100 * kibibyte)
    log.write(topics.events, large, 'key', { trace: 'x'.repeat(5_000) })
    harness.write({ message: trackMessage('m1') })
    await harness.advance(10)
    const [deadLetter] = log.records(topics.deadLetter)
    expect(deadLetter?.value).toEqual(large.subarray(0, 64 * kibibyte))
    expect(deadLetter?.headers).toMatchObject({
      ...{ reason: 'undecodable', 'original-length': String(large.length), 'origin-key': 'key' },
      ...{ 'origin-topic': topics.events, 'origin-partition': '0', 'origin-offset': '0' },
    })
    expect(deadLetter?.headers['trace']).toBeUndefined()
    expect(log.committed('live', topics.events)).toBe(2)
    expect(harness.calls).toHaveLength(1)
    expect(harness.service.health().ready.every(({ ok }) => ok)).toBe(true)
    expect(harness.count('truncatedDeadLetters{undecodable}')).toBe(1)
    expect(harness.count('deadLetters{-,undecodable}')).toBe(1)
  })

  it('is retried when the topic is not writable for another reason', async () => {
    const harness = await DispatcherHarness.started()
    const { topics, log } = harness
    log.unwritable.add(topics.deadLetter)
    log.write(topics.events, large, 'key')
    await harness.advance(1_000)
    log.unwritable.clear()
    await harness.advance(10_000)
    expect(log.records(topics.deadLetter)[0]?.value).toEqual(large)
  })
})

describe('a delivery that is too large for the retry topic', () => {
  const retry = async (answer: number) => {
    const harness = await DispatcherHarness.started({ answer: () => answered(answer) })
    const { topics, log } = harness
    log.maxBytes.set(topics.retry(defaultSchedule[0]!), 10)
    harness.write({ message: trackMessage('m1') })
    await harness.advance(10)
    return harness
  }

  it('is dead-lettered as record_too_large with its delivery state', async () => {
    const { log, topics, ...harness } = await retry(503)
    const [deadLetter] = log.records(topics.deadLetter)
    expect(parseDeliveryState(deadLetter!.headers)).toMatchObject({
      reason: 'record_too_large',
      attempt: 1,
      outcomes: 'http_5xx',
    })
    expect(parseDeadLetter(deadLetter!)).toMatchObject({
      destination: 'crm',
      messageId: 'm1',
      originalLength: undefined,
    })
    expect(log.committed('live', topics.events)).toBe(1)
    expect(harness.counts.get('deadLetters{crm,record_too_large}')).toBe(1)
    expect(harness.counts.get('deliveries{crm,retried}')).toBeUndefined()
  })

  it('keeps its reason when it needs no retry', async () => {
    const { log, topics } = await retry(404)
    expect(log.records(topics.deadLetter)[0]?.headers['reason']).toBe('http_4xx')
  })
})

it('a batch that was not unpacked becomes one dead letter with its first and last offset', async () => {
  const harness = await DispatcherHarness.started()
  const { topics, log } = harness
  log.writeUnreadBatch(topics.events, {
    firstOffset: 38,
    length: 6_419,
    bytes: Buffer.from('packed'),
    why: 'too large',
  })
  harness.write({ message: trackMessage('m1') })
  await harness.advance(10)
  const [deadLetter] = log.records(topics.deadLetter)
  expect(deadLetter?.value?.toString()).toBe('packed')
  expect(parseDeadLetter(deadLetter!)).toMatchObject({
    ...{ reason: 'undecodable', originalLength: 6_419, firstOffset: 38 },
    origin: { topic: topics.events, partition: 0, offset: 0 },
  })
  expect(log.committed('live', topics.events)).toBe(2)
  expect(harness.calls).toHaveLength(1)
})
