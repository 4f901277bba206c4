import { describe, expect, it, jest } from '@jest/globals'
import { createTimeSlices } from '../../../../src/services/collector/time-slices.ts'
import { CollectorHarness } from '../../../support/collector/harness.ts'
import { ManualClock } from '../../../support/manual-clock.ts'

const page = (messageId: string, fields: object = {}): object => ({ type: 'page', userId: 'u', messageId, ...fields })
const accepted = { kind: 'accepted', rejected: [] }

describe('turns', () => {
  it('are given one per tick of the event loop, in the order of the calls', async () => {
    const { next: nextTurn } = createTimeSlices(new ManualClock())
    const given: string[] = []
    const settle = (): Promise<void> => new Promise(resolve => setImmediate(resolve))
    const twice = async (name: string): Promise<void> => {
      await nextTurn()
      given.push(`${name}1`)
      await nextTurn()
      given.push(`${name}2`)
    }
    const all = Promise.all([twice('a'), twice('b')])
    for (const expected of [['a1'], ['a1', 'b1'], ['a1', 'b1', 'a2'], ['a1', 'b1', 'a2', 'b2']]) {
      await settle()
      expect(given).toEqual(expected)
    }
    await all
  })
})

describe('short work', () => {
  const settle = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

  it('is done immediately until the short work of a tick is that of a turn, and again in the next tick', async () => {
    const { short } = createTimeSlices(new ManualClock())
    expect([short(60_000), short(5_536)]).toEqual([undefined, undefined])
    await settle()
    expect(short(65_536)).toBe(undefined)
  })

  it('waits for several ticks in the order of the calls, but not for turns', async () => {
    const { short, next } = createTimeSlices(new ManualClock())
    const done: string[] = []
    for (const name of ['turn 1', 'turn 2', 'turn 3']) void next().then(() => done.push(name))
    expect(short(65_536)).toBe(undefined)
    for (const [name, work] of Object.entries({ a: 30_000, b: 30_000, c: 30_000, d: 60_000 }))
      void short(work)?.then(() => done.push(name))
    for (const expected of [
      ['turn 1', 'a', 'b'],
      ['turn 2', 'c'],
      ['turn 3', 'd'],
    ]) {
      await settle()
      expect(done.splice(0)).toEqual(expected)
    }
  })
})

describe('many short requests', () => {
  it('are parsed in several turns when they arrive in one tick', async () => {
    const collector = new CollectorHarness()
    const text = `{"type":"page","userId":"u"${' '.repeat(30_000)}}`
    for (let index = 0; index < 6; index += 1) collector.request(text)
    const stored = (): number => collector.producer.records(collector.topics.events).length
    // All six requests arrive in one tick. Each tick parses two requests, and `settle` resolves in
    // the next tick.
    for (const expected of [4, 6]) {
      await collector.settle()
      expect(stored()).toBe(expected)
    }
  })
})

describe('a long request', () => {
  const long = { batch: Array.from({ length: 500 }, (_, index) => page(`m${index}`, { name: 'x'.repeat(1_000) })) }

  it('is handled in parts, and a later short request is answered before it', async () => {
    const collector = new CollectorHarness()
    const first = collector.request(long)
    const second = collector.request({ batch: [page('short')] })
    await collector.settle()
    expect(collector.events().map(({ message }) => message.messageId)).toEqual(['short'])
    collector.producer.answer()
    await collector.settle()
    expect([first.answer, second.answer]).toEqual([undefined, accepted])
    for (let turn = 0; turn < 20; turn += 1) await collector.settle()
    expect(collector.events()).toHaveLength(501)
    collector.producer.answer()
    await collector.settle()
    expect(first.answer).toEqual(accepted)
  })

  it('that is one message becomes a record in the turn that parses it, so that no parsed message waits', async () => {
    const collector = new CollectorHarness()
    const text = `{"type":"page","userId":"u"${' '.repeat(100_000)}}`
    const parse = jest.spyOn(JSON, 'parse')
    for (let index = 0; index < 3; index += 1) collector.request(text, { type: index === 0 ? 'page' : undefined })
    for (let turn = 1; turn <= 3; turn += 1) {
      await collector.settle()
      expect(parse.mock.calls.filter(([parsed]) => parsed === text)).toHaveLength(turn)
      expect(collector.producer.records(collector.topics.events)).toHaveLength(turn)
    }
    parse.mockRestore()
  })

  it('keeps its rejected messages in several turns', async () => {
    const collector = new CollectorHarness()
    collector.request(Array(1_000).fill(1))
    await collector.settle()
    const first = collector.rejects().length
    expect(first).toBeGreaterThan(0)
    expect(first).toBeLessThan(300)
    for (let turn = 0; turn < 5; turn += 1) await collector.settle()
    expect(collector.rejects()).toHaveLength(1_000)
  })

  it('is searched for its write key in a turn of its own', async () => {
    const collector = new CollectorHarness()
    const assigned: string[] = []
    const given = {
      headerKey: undefined,
      assign: (sourceId: string): boolean => {
        assigned.push(sourceId)
        return true
      },
    }
    for (const writeKey of ['web-key', 'app-key', 'web-key']) collector.request({ ...long, writeKey }, given)
    for (const expected of [['web'], ['web', 'app'], ['web', 'app', 'web']]) {
      await collector.settle()
      expect(assigned).toEqual(expected)
    }
  })

  it('takes memory record by record, and gives it back when the limit is reached', async () => {
    const collector = new CollectorHarness({ memory: { records: 400_000 } })
    const both = [collector.request(long), collector.request(long)]
    for (let turn = 0; turn < 40; turn += 1) await collector.settle()
    const refused = { kind: 'refused', code: 'unavailable', retryAfter: 1 }
    expect(both.map(({ answer }) => answer)).toEqual(
      expect.arrayContaining([undefined, expect.objectContaining(refused)]),
    )
    expect(collector.events()).toHaveLength(500)
    collector.producer.answer()
    await collector.settle()
    expect(both.map(({ answer }) => answer)).toContainEqual(accepted)
    expect(collector.held('records')).toBe(0)
  })

  it('stores nothing in strict mode when one message is rejected', async () => {
    const collector = new CollectorHarness()
    const batch = [...long.batch, { type: 'page', messageId: 'bad' }]
    expect(await collector.answered({ batch }, { strict: true })).toMatchObject({
      code: 'rejected',
      rejected: [{ index: 500, messageId: 'bad' }],
    })
    expect(collector.events()).toEqual([])
    expect(collector.held('records')).toBe(0)
  })
})
