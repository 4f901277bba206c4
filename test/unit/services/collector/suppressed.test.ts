import { describe, expect, it } from '@jest/globals'
import type { Mark } from '../../../../src/core/deletion/suppressions.ts'
import { epochMs } from '../../../../src/core/units.ts'
import { CollectorHarness } from '../../../support/collector/harness.ts'

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

describe('the text of a rejected message', () => {
  const rejectedOf = async (collector: CollectorHarness, text: string) => {
    await collector.answered(`{"batch":[${text}]}`)
    return collector.rejects()
  }
  it.each<[string, string, string]>([
    ['rejected for another reason', 'missing_event', '{"type":"track","userId":"ada","messageId":"m"}'],
    ['with an escape in it', 'missing_event', '{"type":"track","user\\u0049d":"\\u0061da","messageId":"m"}'],
    ['that is no JSON', 'invalid_json', '{"type":"page","messageId":"m","userId":"ada","x":NaN}'],
    ['that is no JSON, and whose user id cannot be read', 'invalid_json', '{"type":"page","userId":ada}'],
    ['that is no object, but has an event in it', 'not_an_object', '[{"type":"page","userId":"ada"}]'],
    ['that is too long', 'message_too_large', `{"type":"page","userId":"ada","x":"${'x'.repeat(300_000)}"}`],
  ])('of a suppressed user is not kept: %s', async (_, code, text) => {
    const [rejected, ...others] = await rejectedOf(deleted(), text)
    expect(others).toEqual([])
    expect(rejected).toMatchObject({ source: 'web', code, index: 0 })
    expect(rejected).not.toHaveProperty('text')
  })

  it.each<[string, () => CollectorHarness, string]>([
    ['of somebody else', deleted, '{"type":"track","userId":"bob"}'],
    ['of somebody else, which is no JSON', deleted, '{"userId":"bob","x":NaN}'],
    ['of nobody', deleted, '{"type":"track"}'],
    ['of a user who was only deleted', () => deleted({ isSuppressed: false }), '{"type":"track","userId":"ada"}'],
    ['of another source than the suppressed one', () => deleted({ source: 'app' }), '{"type":"track","userId":"ada"}'],
    ['that cannot be read while nobody is suppressed', () => new CollectorHarness(), '{"userId":ada}'],
  ])('is kept: %s', async (_, given, text) => {
    expect(await rejectedOf(given(), text)).toMatchObject([{ text }])
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
