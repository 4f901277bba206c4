import { describe, expect, it } from '@jest/globals'
import type { Mark } from '../../../../src/core/deletion/marks.ts'
import { epochMs } from '../../../../src/core/units.ts'
import { CollectorHarness } from '../../../support/collector-harness.ts'

const page = (messageId: string, userId = 'ada'): object => ({ type: 'page', messageId, userId })
const accepted = { kind: 'accepted', rejected: [] }

/** Ada was deleted a minute ago. */
function deleted({ isSuppressed = true, source }: { isSuppressed?: boolean; source?: string } = {}): CollectorHarness {
  const collector = new CollectorHarness()
  const mark: Mark = { source, deletedAt: epochMs(collector.clock.now() - 60_000), isSuppressed }
  collector.marks.apply('ada', [mark])
  return collector
}

const ids = (collector: CollectorHarness) => collector.events().map(({ message }) => message.messageId)

describe('of a suppressed user', () => {
  it('nothing is taken, and the sender is told as if it was; others in the batch are taken', async () => {
    const collector = deleted()
    expect(await collector.answered({ batch: [page('a'), page('b', 'bob'), page('c')] })).toEqual(accepted)
    expect(ids(collector)).toEqual(['b'])
    expect(collector.count('collectorMessages{web,suppressed}')).toBe(2)
    expect(collector.count('collectorMessages{web,accepted}')).toBe(1)
  })

  it('a batch without anybody else is accepted at once, whether Kafka is there or not', async () => {
    const collector = deleted()
    const box = collector.request({ batch: [page('a')] })
    await collector.settle()
    expect(box.answer).toEqual(accepted)
    expect(collector.producer.records(collector.topics.events)).toEqual([])
  })

  it('a message that is rejected is rejected still, and strict mode says so', async () => {
    const collector = deleted()
    const batch = { batch: [page('a'), { type: 'page' }] }
    expect(await collector.answered(batch)).toMatchObject({ kind: 'accepted', rejected: [{ index: 1 }] })
    expect(await collector.answered(batch, { strict: true })).toMatchObject({ kind: 'refused', code: 'rejected' })
    expect(collector.count('collectorMessages{web,suppressed}')).toBe(1)
  })

  it('what is not stored for others is not counted: all of it comes again', async () => {
    const collector = deleted()
    const box = collector.request({ batch: [page('a'), page('b', 'bob')] })
    await collector.settle()
    collector.producer.answer(new Error('no leader'))
    await collector.settle()
    expect(box.answer).toMatchObject({ kind: 'refused', code: 'unavailable' })
    expect(collector.count('collectorMessages{web,suppressed}')).toBe(0)
  })
})

describe('is taken', () => {
  it.each([
    ['what a user sends who was only deleted', () => deleted({ isSuppressed: false }), {}],
    ['what comes by another source than the suppressed one', () => deleted({ source: 'app' }), {}],
    ['what names no user', () => deleted(), { userId: undefined, anonymousId: 'ada' }],
  ])('%s', async (_, given, fields) => {
    const collector = given()
    await collector.answered({ batch: [{ ...page('a'), ...fields }] })
    expect(ids(collector)).toEqual(['a'])
    expect(collector.count('collectorMessages{web,suppressed}')).toBe(0)
  })
})
