import { describe, expect, it } from '@jest/globals'
import type { Suppression } from '../../../../src/core/deletion/suppressions.ts'
import { maxMessages } from '../../../../src/core/message/batch.ts'
import { epochMs } from '../../../../src/core/time.ts'
import { CollectorHarness } from '../../../support/collector/harness.ts'

const page = (messageId: string, userId = 'ada'): object => ({ type: 'page', messageId, userId })
const accepted = { kind: 'accepted', rejected: [] }

/** A collector where Ada was deleted a minute ago. */
const deleted = (mark: Partial<Suppression> = {}): CollectorHarness => deletedBefore(60_000, mark)

/** A collector where Ada was deleted `ms` ago. */
function deletedBefore(ms: number, mark: Partial<Suppression> = {}): CollectorHarness {
  const collector = new CollectorHarness()
  const deletedAt = epochMs(collector.clock.now() - ms)
  collector.marks.apply('ada', [{ source: undefined, deletedAt, isSuppressed: true, ...mark }])
  return collector
}

const ids = (collector: CollectorHarness) => collector.events().map(({ message }) => message.messageId)

describe('messages of a suppressed user', () => {
  it('are not stored, with a success response; others in the batch are stored', async () => {
    const collector = deleted()
    expect(await collector.answered({ batch: [page('a'), page('b', 'bob'), page('c')] })).toEqual(accepted)
    expect(ids(collector)).toEqual(['b'])
    expect(collector.count('collectorMessages{web,suppressed}')).toBe(2)
    expect(collector.count('collectorMessages{web,accepted}')).toBe(1)
  })

  it('are accepted immediately when alone in a batch, also without Kafka', async () => {
    const collector = deleted()
    const box = collector.request({ batch: [page('a')] })
    await collector.settle()
    expect(box.answer).toEqual(accepted)
    expect(collector.producer.records(collector.topics.events)).toEqual([])
  })

  it('have their removed __proto__ keys counted', async () => {
    const collector = deleted()
    await collector.answered('{"batch":[{"type":"page","userId":"ada","properties":{"__proto__":1}}]}')
    expect(collector.count('droppedKeys{}')).toBe(1)
  })

  it('are still rejected when invalid, also in strict mode', async () => {
    const collector = deleted()
    const batch = { batch: [page('a'), { type: 'page' }] }
    expect(await collector.answered(batch)).toMatchObject({ kind: 'accepted', rejected: [{ index: 1 }] })
    expect(await collector.answered(batch, { strict: true })).toMatchObject({ kind: 'refused', code: 'rejected' })
    expect(collector.count('collectorMessages{web,suppressed}')).toBe(1)
  })

  it('are not counted when the rest of the batch is not stored', async () => {
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
  const long = 'x'.repeat(300_000)
  const rejectedOf = async (collector: CollectorHarness, text: string) => {
    await collector.answered(`{"batch":[${text}]}`)
    return collector.rejects()
  }
  it.each<[string, string, string]>([
    ['rejected for another reason', 'missing_event', '{"type":"track","userId":"ada","messageId":"m"}'],
    ['an alias of the user', 'missing_user_id', '{"type":"alias","previousId":"ada"}'],
    [
      'an alias to another id',
      'invalid_timestamp',
      '{"type":"alias","userId":"bob","previousId":"ada","timestamp":"x"}',
    ],
    ['with an escape sequence', 'missing_event', '{"type":"track","user\\u0049d":"\\u0061da","messageId":"m"}'],
    ['that is not JSON', 'invalid_json', '{"type":"page","messageId":"m","userId":"ada","x":NaN}'],
    ['that is not JSON and has no readable user id', 'invalid_json', '{"type":"page","userId":ada}'],
    ['that is an array with an event', 'not_an_object', '[{"type":"page","userId":"ada"}]'],
    ['that is too long', 'message_too_large', `{"type":"page","userId":"ada","x":"${long}"}`],
    ['that is too long and not JSON', 'message_too_large', `{"type":"page",oops,"userId":"ada","x":"${long}"}`],
    ['that is a too long array', 'message_too_large', `[{"type":"page","userId":"ada","x":"${long}"}]`],
  ])('is not kept when of a suppressed user: %s', async (_, code, text) => {
    const [rejected, ...others] = await rejectedOf(deleted(), text)
    expect(others).toEqual([])
    expect(rejected).toMatchObject({ source: 'web', code, index: 0 })
    expect(rejected).not.toHaveProperty('text')
  })

  it.each([
    ['not JSON', '{"type":"page",oops,"userId":"ada"}'],
    ['an array', '[{"type":"page","userId":"ada"}]'],
  ])('is not kept when the batch has too many messages: %s', async (_, text) => {
    const collector = deleted()
    const other = '{"type":"page","userId":"bob"}'
    await collector.answered(`[${Array(maxMessages).fill(other).join(',')},${text},${other}]`)
    const [rejected, ofOther] = collector.rejects()
    expect(rejected).toMatchObject({ code: 'too_many_messages', index: maxMessages })
    expect(rejected).not.toHaveProperty('text')
    expect(ofOther).toMatchObject({ code: 'too_many_messages', text: other })
  })

  it('is not kept when the user was suppressed after the message was received', async () => {
    const [rejected] = await rejectedOf(deletedBefore(0), '{"type":"track","userId":"ada"}')
    expect(rejected).toMatchObject({ code: 'missing_event' })
    expect(rejected).not.toHaveProperty('text')
  })

  it.each<[string, () => CollectorHarness, string]>([
    ['of another user', deleted, '{"type":"track","userId":"bob"}'],
    ['an alias of another user', deleted, '{"type":"alias","previousId":"bob"}'],
    ['of another user, not JSON', deleted, '{"userId":"bob","x":NaN}'],
    ['of no user', deleted, '{"type":"track"}'],
    ['of a user who is only deleted', () => deleted({ isSuppressed: false }), '{"type":"track","userId":"ada"}'],
    ['of a user deleted just now', () => deletedBefore(0, { isSuppressed: false }), '{"type":"track","userId":"ada"}'],
    ['of a source without the suppression', () => deleted({ source: 'app' }), '{"type":"track","userId":"ada"}'],
    ['that cannot be read, without suppressed users', () => new CollectorHarness(), '{"userId":ada}'],
  ])('is kept: %s', async (_, given, text) => {
    expect(await rejectedOf(given(), text)).toMatchObject([{ text }])
  })
})

describe('the collector accepts', () => {
  it.each([
    ['a message of a user who is only deleted', () => deleted({ isSuppressed: false }), {}],
    ['a message of a source without the suppression', () => deleted({ source: 'app' }), {}],
    ['a message without a user', () => deleted(), { userId: undefined, anonymousId: 'ada' }],
  ])('%s', async (_, given, fields) => {
    const collector = given()
    await collector.answered({ batch: [{ ...page('a'), ...fields }] })
    expect(ids(collector)).toEqual(['a'])
    expect(collector.count('collectorMessages{web,suppressed}')).toBe(0)
  })
})
