import { describe, expect, it, jest } from '@jest/globals'
import { createSourceKeys } from '../../../../src/core/collector/source-keys.ts'
import type { TrackingRequest } from '../../../../src/core/collector/tracking-api.ts'
import { Secret } from '../../../../src/core/secret.ts'
import { CollectorHarness } from '../../../support/collector/harness.ts'

const page = (messageId: string, fields: object = {}): object => ({ type: 'page', userId: 'u', messageId, ...fields })
const bad = (messageId: string): object => ({ type: 'page', messageId })
const accepted = { kind: 'accepted', rejected: [] }

describe('an accepted message', () => {
  it('becomes an event of its source, keyed by the user', async () => {
    const collector = new CollectorHarness()
    expect(await collector.answered({ batch: [page('a'), page('b', { userId: null, anonymousId: 'n' })] })).toEqual(
      accepted,
    )
    expect(collector.events()).toMatchObject([
      { sourceId: 'web', canonical: true, receivedAt: collector.clock.now(), message: { messageId: 'a', userId: 'u' } },
      { sourceId: 'web', canonical: true, message: { messageId: 'b', anonymousId: 'n' } },
    ])
    const keys = collector.producer.records(collector.topics.events).map(({ key }) => key)
    expect(keys).toEqual([Buffer.from('u'), Buffer.from('n')])
    // The producer selects the partition by the key, as the Java client does.
    expect(collector.producer.records(collector.topics.events).every(({ partition }) => partition === undefined)).toBe(
      true,
    )
    expect(collector.count('collectorMessages{web,accepted}')).toBe(2)
  })

  it('gets a unique id when it has none', async () => {
    const collector = new CollectorHarness()
    await collector.answered({
      batch: [
        { type: 'page', userId: 'u' },
        { type: 'page', userId: 'u' },
      ],
    })
    expect(new Set(collector.events().map(({ message }) => message.messageId)).size).toBe(2)
  })

  it('is accepted only after Kafka has acknowledged the whole request', async () => {
    const collector = new CollectorHarness()
    const box = collector.request({ batch: [page('a'), page('b'), page('c')] })
    await collector.settle()
    collector.producer.answer(undefined, 2)
    await collector.settle()
    expect(box.answer).toBeUndefined()
    expect(collector.count('collectorMessages{web,accepted}')).toBe(0)
    collector.producer.answer()
    await collector.settle()
    expect(box.answer).toEqual(accepted)
    expect(collector.count('collectorStoreSeconds{}')).toBe(1)
  })

  it('counts removed __proto__ keys', async () => {
    const collector = new CollectorHarness()
    await collector.answered('{"batch":[{"type":"page","userId":"u","properties":{"__proto__":1}}]}')
    expect(collector.count('droppedKeys{}')).toBe(1)
  })

  it('counts removed __proto__ keys of the batch once, however many messages it has', async () => {
    const collector = new CollectorHarness()
    const batch = JSON.stringify([page('a'), page('b')])
    await collector.answered(`{"context":{"__proto__":{"a":1}},"batch":${batch}}`)
    expect(collector.count('droppedKeys{}')).toBe(1)
    await collector.answered(`{"context":{"a":{"__proto__":1}},"integrations":{"__proto__":1},"batch":${batch}}`)
    expect(collector.count('droppedKeys{}')).toBe(3)
  })
})

describe('a rejected message', () => {
  it('does not affect the other messages, and is written to the rejected topic unchanged', async () => {
    const collector = new CollectorHarness()
    const answer = await collector.answered(
      `{"batch":[${JSON.stringify(page('a'))}, {"type":"page","x":NaN} ,{"type": "page"}]}`,
    )
    expect(answer).toMatchObject({ kind: 'accepted', rejected: [{ index: 1 }, { index: 2 }] })
    expect(collector.events()).toHaveLength(1)
    expect(collector.rejects()).toEqual([
      {
        ...{ source: 'web', code: 'invalid_json', index: 1, receivedAt: collector.clock.now() },
        ...{ message: expect.any(String), text: '{"type":"page","x":NaN}' },
      },
      {
        ...{ source: 'web', code: 'missing_id', index: 2, receivedAt: collector.clock.now() },
        ...{ message: "You must pass either an 'anonymousId' or 'userId'.", text: '{"type": "page"}' },
      },
    ])
    expect(collector.count('collectorMessages{web,rejected}')).toBe(2)
  })

  it('is reported immediately when it is alone: no response waits for the rejected topic', async () => {
    const collector = new CollectorHarness()
    const box = collector.request({ batch: [bad('a')] })
    await collector.settle()
    expect(box.answer).toMatchObject({ kind: 'accepted', rejected: [{ index: 0, messageId: 'a', code: 'missing_id' }] })
    expect(collector.producer.waiting).toHaveLength(1)
  })

  it('is dropped and counted when the rejected topic does not store it', async () => {
    const collector = new CollectorHarness()
    const box = collector.request({ batch: [bad('a'), bad('b')] })
    await collector.settle()
    collector.producer.answer(new Error('not writable'), 1)
    collector.producer.answer()
    await collector.settle()
    expect(box.answer).toMatchObject({ kind: 'accepted' })
    expect(collector.count('collectorRejectsLost{}')).toBe(1)
    expect(collector.held('records')).toBe(0)
    expect(collector.readyFailures()).toEqual([])
  })

  it('is written with at most 999 others of its request; the rest is counted', async () => {
    const collector = new CollectorHarness()
    const answer = await collector.answered(Array(1_500).fill(1))
    expect(answer).toMatchObject({ kind: 'accepted', rejected: { length: 1_500 } })
    expect(collector.rejects().map(({ index }) => index)).toEqual(Array.from({ length: 1_000 }, (_, index) => index))
    expect(collector.count('collectorRejectsLost{}')).toBe(500)
    expect(collector.count('collectorMessages{web,rejected}')).toBe(1_500)
  })

  it('takes memory of its request: without it, the request is refused before anything is stored', async () => {
    const collector = new CollectorHarness()
    let free = 1_000_000
    const reserve = (bytes: number): boolean => {
      free -= bytes
      return free >= 0
    }
    const answer = await collector.answered([page('a'), ...Array(9_000).fill(1)], { reserve })
    expect(answer).toMatchObject({ kind: 'refused', code: 'unavailable', retryAfter: 1 })
    expect(collector.producer.waiting).toEqual([])
    expect([collector.events(), collector.rejects(), collector.held('records')]).toEqual([[], [], 0])
  })

  it('is in a request that is too large when its request alone may never use the memory', async () => {
    const collector = new CollectorHarness()
    const refused: number[] = []
    const canEverReserve = (bytes: number): boolean => refused.push(bytes) > 1
    // A request first reserves 24 bytes per message, for its position in the body. `reserve`
    // permits only this.
    const reserve = (bytes: number): boolean => bytes === 24 * 3
    const answer = await collector.answered([page('a'), 1, 1], { reserve, canEverReserve })
    expect(answer).toMatchObject({ kind: 'refused', code: 'payload_too_large', retryAfter: undefined })
    expect(refused).toEqual([expect.any(Number)])
    expect([collector.events(), collector.rejects(), collector.held('records')]).toEqual([[], [], 0])
  })

  it.each([
    ['in a header', 'web-key'],
    ['in the body, behind the message', undefined],
  ])('with one brace too many does not affect the others, with the key %s', async (_, headerKey) => {
    const collector = new CollectorHarness()
    const [first, second] = [page('a'), page('b')].map(each => JSON.stringify(each))
    const body = `{"batch":[${first}},${second}],"writeKey":"web-key"}`
    expect(await collector.answered(body, { headerKey })).toMatchObject({
      kind: 'accepted',
      rejected: [{ index: 0, code: 'invalid_json' }],
    })
    expect(collector.events()).toMatchObject([{ message: { messageId: 'b' } }])
  })

  it('is not written when its request fails and must be repeated', async () => {
    const collector = new CollectorHarness()
    const box = collector.request({ batch: [page('a'), bad('b')] })
    await collector.settle()
    collector.producer.answer(new Error('no leader'))
    await collector.settle()
    expect(box.answer).toMatchObject({ kind: 'refused', code: 'unavailable' })
    expect(collector.rejects()).toEqual([])
    expect(collector.count('collectorMessages{web,rejected}')).toBe(0)
  })
})

describe('a request that has no memory for the positions of its messages', () => {
  it.each([
    ['is refused, to be sent again', true, { code: 'unavailable', retryAfter: 1 }],
    ['is too large if it can never get this memory', false, { code: 'payload_too_large', retryAfter: undefined }],
  ])('%s', async (_, canEver, expected) => {
    const collector = new CollectorHarness()
    const given = { reserve: () => false, canEverReserve: () => canEver }
    expect(await collector.answered([page('a')], given)).toMatchObject({ kind: 'refused', ...expected })
    expect(collector.events()).toEqual([])
  })
})

describe('X-Strict-Mode', () => {
  it('rejects a whole batch with one rejected message', async () => {
    const collector = new CollectorHarness()
    const answer = await collector.answered({ batch: [page('a'), bad('b')] }, { strict: true })
    expect(answer).toMatchObject({
      kind: 'refused',
      code: 'rejected',
      rejected: [{ index: 1, messageId: 'b', code: 'missing_id' }],
    })
    expect(collector.events()).toEqual([])
    expect(collector.rejects()).toMatchObject([{ messageId: 'b' }])
  })

  it('counts no removed __proto__ keys of a rejected batch', async () => {
    const collector = new CollectorHarness()
    await collector.answered('{"context":{"__proto__":1},"batch":[{"type":"page"}]}', { strict: true })
    expect(collector.count('droppedKeys{}')).toBe(0)
  })

  it('accepts a valid batch', async () => {
    const collector = new CollectorHarness()
    expect(await collector.answered({ batch: [page('a')] }, { strict: true })).toEqual(accepted)
  })
})

describe('write key', () => {
  it.each<[string, Partial<TrackingRequest>, object, string]>([
    ['in a header', { headerKey: 'app-key' }, {}, 'app'],
    ['in a header, which precedes the body', { headerKey: 'app-key' }, { writeKey: '***' }, 'app'],
    ['in the body', { headerKey: undefined, queryKey: 'no' }, { writeKey: 'app-key' }, 'app'],
    ['in the query', { headerKey: undefined, queryKey: 'app-key' }, {}, 'app'],
  ])('%s', async (_, given, body, source) => {
    const collector = new CollectorHarness()
    expect(await collector.answered({ ...body, batch: [page('a')] }, given)).toEqual(accepted)
    expect(collector.events()).toMatchObject([{ sourceId: source }])
  })

  it.each<[string, Partial<TrackingRequest>, unknown]>([
    ['unknown, in a header', { headerKey: 'no' }, { writeKey: 'web-key', batch: [] }],
    ['unknown, in the body', { headerKey: undefined, queryKey: 'web-key' }, { writeKey: 'no', batch: [] }],
    ['none', { headerKey: undefined }, { batch: [page('a')] }],
    ['unknown, without reading the body', { headerKey: 'no' }, 'no JSON'],
  ])('refused: %s', async (_, given, body) => {
    const collector = new CollectorHarness()
    expect(await collector.answered(body, given)).toMatchObject({ kind: 'refused', code: 'invalid_write_key' })
    expect(collector.producer.waiting).toEqual([])
  })

  it.each<[string, string, TrackingRequest['type']]>([
    ['one message', `{"type":"page","userId":"u","x":[${'{},'.repeat(80_000)}0]}`, 'page'],
    ['one message without a type in the path', `{"type":"page","x":[${'{},'.repeat(80_000)}0]}`, undefined],
    ['one broken message', `{"type":"page","x":[${'{},'.repeat(80_000)}NaN]}`, 'page'],
    ['a message that is cut off', `{"type":"page","x":[${'{},'.repeat(80_000)}`, 'page'],
    ['members beside a batch', `{"context":{"a":[${'{},'.repeat(80_000)}0]},"sentAt":[{}],"batch":[]}`, undefined],
  ])('refused without parsing the body: %s', async (_, body, type) => {
    const collector = new CollectorHarness()
    const parse = jest.spyOn(JSON, 'parse')
    const answer = await collector.answered(body, { headerKey: undefined, type })
    const parsed = parse.mock.calls.length
    parse.mockRestore()
    expect(answer).toMatchObject({ code: 'invalid_write_key' })
    expect(parsed).toBe(0)
  })

  it('of a changed configuration applies immediately', async () => {
    const collector = new CollectorHarness()
    expect([collector.service.isWriteKey('web-key'), collector.service.isWriteKey('new-key')]).toEqual([true, false])
    collector.sources = createSourceKeys([{ id: 'new', writeKeys: [new Secret('new-key')] }])
    expect([collector.service.isWriteKey('web-key'), collector.service.isWriteKey('new-key')]).toEqual([false, true])
    expect(await collector.answered({ batch: [] })).toMatchObject({ code: 'invalid_write_key' })
    expect(await collector.answered({ batch: [] }, { headerKey: 'new-key' })).toEqual(accepted)
  })
})
