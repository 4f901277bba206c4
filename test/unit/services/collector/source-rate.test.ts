import { describe, expect, it } from '@jest/globals'
import { maxWorkPerCall } from '../../../../src/core/message/normalise-batch.ts'
import { CollectorHarness } from '../../../support/collector/harness.ts'

const page = (messageId: string): object => ({ type: 'page', userId: 'u', messageId })
const bad = (messageId: string): object => ({ type: 'page', messageId })
const batch = { batch: [page('a'), page('b'), page('c')] }
const accepted = { kind: 'accepted', rejected: [] }
const down = new Error('no leader')

/** Kafka stores the first `stored` messages, and refuses the others. */
async function fail(collector: CollectorHarness, stored = 0): Promise<void> {
  const failed = collector.request(batch)
  await collector.settle()
  collector.producer.answer(undefined, stored)
  collector.producer.answer(down)
  await collector.settle()
  expect(failed.answer).toMatchObject({ code: 'unavailable', retryAfter: 5 })
}

describe('the rate of a source', () => {
  it('refuses only the source that exceeds it, with Retry-After', async () => {
    const collector = new CollectorHarness({ ratePerSource: 10 })
    const batch = { batch: Array.from({ length: 40 }, (_, index) => page(`m${index}`)) }
    expect(await collector.answered(batch)).toEqual(accepted)
    expect(await collector.answered(batch)).toMatchObject({ kind: 'refused', code: 'rate_limited', retryAfter: 4 })
    expect(await collector.answered(batch, { headerKey: 'app-key' })).toEqual(accepted)
    await collector.advance(3_000)
    expect(await collector.answered(batch)).toMatchObject({ code: 'rate_limited', retryAfter: 1 })
    await collector.advance(1)
    expect(await collector.answered(batch)).toEqual(accepted)
  })

  it('applies to a key in the body', async () => {
    const collector = new CollectorHarness({ ratePerSource: 1 })
    const body = { writeKey: 'web-key', batch: [page('a')] }
    expect(await collector.answered(body, { headerKey: undefined })).toEqual(accepted)
    expect(await collector.answered(body, { headerKey: undefined })).toMatchObject({ code: 'rate_limited' })
  })

  it('counts rejected messages', async () => {
    const collector = new CollectorHarness({ ratePerSource: 2 })
    await collector.answered({ batch: [bad('a'), bad('b')] })
    expect(await collector.answered({ batch: [] })).toMatchObject({ code: 'rate_limited' })
  })

  it('counts all messages of a batch that strict mode rejects', async () => {
    const collector = new CollectorHarness({ ratePerSource: 10 })
    const messages = Array.from({ length: 99 }, (_, index) => page(`m${index}`))
    const answer = await collector.answered([...messages, bad('bad')], { strict: true })
    expect(answer).toMatchObject({ code: 'rejected' })
    expect(await collector.answered({ batch: [] })).toMatchObject({ code: 'rate_limited', retryAfter: 10 })
  })

  it('counts all messages of a batch with a list of rejected messages that is too large', async () => {
    const collector = new CollectorHarness({ ratePerSource: 10 })
    const given = { reserve: (bytes: number) => bytes === 24 * 100, canEverReserve: () => false }
    const answer = await collector.answered(Array(100).fill(0), given)
    expect(answer).toMatchObject({ code: 'payload_too_large' })
    expect(await collector.answered({ batch: [] })).toMatchObject({ code: 'rate_limited', retryAfter: 10 })
  })

  it('counts at most the maximum number of messages of a batch', async () => {
    const collector = new CollectorHarness({ ratePerSource: 10 })
    expect(await collector.answered(Array(10_000).fill(0))).toMatchObject({ kind: 'accepted' })
    expect(await collector.answered({ batch: [] })).toMatchObject({ code: 'rate_limited', retryAfter: 250 })
  })

  it('is checked again after the wait for CPU time', async () => {
    const collector = new CollectorHarness({ ratePerSource: 10 })
    const long = JSON.stringify(Array(2_500).fill(0)) + ' '.repeat(maxWorkPerCall)
    const first = collector.answered(long)
    expect(await collector.answered(long)).toMatchObject({ code: 'rate_limited', retryAfter: 250 })
    expect(await first).toMatchObject({ kind: 'accepted' })
  })

  it('is unlimited by default', async () => {
    const collector = new CollectorHarness()
    for (let index = 0; index < 20; index++)
      expect(await collector.answered({ batch: Array(2_500).fill(1) })).toMatchObject({ kind: 'accepted' })
  })
})

describe('messages that were not stored', () => {
  it('do not count if the memory was too small', async () => {
    const collector = new CollectorHarness({ ratePerSource: 4, memory: { records: 2_000 } })
    const first = collector.request(batch)
    await collector.settle()
    const second = collector.request(batch)
    await collector.settle()
    expect(second.answer).toMatchObject({ code: 'unavailable', retryAfter: 1 })
    collector.producer.answer()
    await collector.settle()
    expect(first.answer).toEqual(accepted)
    expect(await collector.answered(batch)).toEqual(accepted)
  })

  it('do not count if Kafka stores nothing', async () => {
    const collector = new CollectorHarness({ ratePerSource: 1 })
    await fail(collector)
    await collector.advance(1_000)
    expect(await collector.answered(batch)).toEqual(accepted)
  })

  it('do not count if Kafka stored others a short time before', async () => {
    const collector = new CollectorHarness({ ratePerSource: 1 })
    expect(await collector.answered(batch)).toEqual(accepted)
    await collector.advance(3_000)
    await fail(collector)
    expect(await collector.answered(batch)).toEqual(accepted)
  })

  it('do not count, but the messages of the same request that Kafka stored do', async () => {
    const collector = new CollectorHarness({ ratePerSource: 1 })
    expect(await collector.answered(batch)).toEqual(accepted)
    await collector.advance(3_000)
    await fail(collector, 2)
    expect(await collector.answered(batch)).toMatchObject({ code: 'rate_limited', retryAfter: 2 })
  })

  it('count while Kafka may still store them', async () => {
    const collector = new CollectorHarness({ ratePerSource: 1 })
    expect(await collector.answered({ batch: [page('first')] })).toEqual(accepted)
    await collector.advance(1_000)
    const failed = collector.request({ batch: Array.from({ length: 30 }, (_, index) => page(`m${index}`)) })
    await collector.settle()
    await collector.advance(10_000)
    expect(failed.answer).toMatchObject({ code: 'unavailable', retryAfter: 5 })
    await collector.advance(5_000)
    const refused = collector.request(batch)
    await collector.settle()
    expect(refused.answer).toMatchObject({ code: 'rate_limited', retryAfter: 15 })
    collector.producer.answer(down)
    await collector.settle()
    expect(await collector.answered(batch)).toEqual(accepted)
  })
})
