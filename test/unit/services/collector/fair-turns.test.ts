import { describe, expect, it, jest } from '@jest/globals'
import { createFairTurns } from '../../../../src/services/collector/fair-turns.ts'
import { CollectorHarness } from '../../../support/collector/harness.ts'
import { ManualClock, turns } from '../../../support/manual-clock.ts'

const page = (messageId: string, fields: object = {}): object => ({ type: 'page', userId: 'u', messageId, ...fields })
const accepted = { kind: 'accepted', rejected: [] }
describe('turns', () => {
  it('are given one per tick of the event loop; those of one source in the order of the calls', async () => {
    const { next } = createFairTurns(new ManualClock())
    const given: string[] = []
    const twice = async (name: string): Promise<void> => {
      await next('web')
      given.push(`${name}1`)
      await next('web')
      given.push(`${name}2`)
    }
    const all = Promise.all([twice('a'), twice('b')])
    for (const expected of [['a1'], ['a1', 'b1'], ['a1', 'b1', 'a2'], ['a1', 'b1', 'a2', 'b2']]) {
      await turns()
      expect(given).toEqual(expected)
    }
    await all
  })
})

describe('short work', () => {
  it('is done immediately until the short work of a tick is that of a turn, and again in the next tick', async () => {
    const { short } = createFairTurns(new ManualClock())
    expect([short('web', 60_000), short('app', 5_536)]).toEqual([undefined, undefined])
    await turns()
    expect(short('web', 65_536)).toBe(undefined)
  })

  it('of at most 64 requests is done in a tick, because each counts at least 1,024 characters', async () => {
    const { short } = createFairTurns(new ManualClock())
    let begun = 0
    const request = async (): Promise<void> => {
      await short('web', 1)
      begun += 1
    }
    const all = Promise.all(Array.from({ length: 150 }, request))
    for (const expected of [64, 128, 150]) {
      await Promise.resolve()
      expect(begun).toBe(expected)
      await turns()
    }
    await all
  })

  it('of one source waits for several ticks in the order of the calls, but not for turns', async () => {
    const { short, next } = createFairTurns(new ManualClock())
    const done: string[] = []
    for (const name of ['turn 1', 'turn 2', 'turn 3']) void next('web').then(() => done.push(name))
    expect(short('web', 65_536)).toBe(undefined)
    for (const [name, work] of Object.entries({ a: 30_000, b: 30_000, c: 30_000, d: 60_000 }))
      void short('web', work)?.then(() => done.push(name))
    for (const expected of [
      ['turn 1', 'a', 'b'],
      ['turn 2', 'c'],
      ['turn 3', 'd'],
    ]) {
      await turns()
      expect(done.splice(0)).toEqual(expected)
    }
  })
})

describe('sources whose requests wait at the same time', () => {
  /**
   * `in` waits for some iterations of the event loop, and returns what was granted in them, each as
   * `<source> <number>`.
   */
  function recorded() {
    const { next, short } = createFairTurns(new ManualClock())
    const given: string[] = []
    return {
      turns(count: number, sourceId: string | undefined, work?: number): void {
        for (let index = 1; index <= count; index += 1)
          void next(sourceId, work).then(() => given.push(`${sourceId} ${index}`))
      },
      shortWork(count: number, sourceId: string | undefined, work: number): void {
        for (let index = 1; index <= count; index += 1)
          void short(sourceId, work)?.then(() => given.push(`${sourceId} ${index}`))
      },
      async in(ticks: number): Promise<readonly string[]> {
        for (let tick = 0; tick < ticks; tick += 1) await turns()
        return given.splice(0)
      },
    }
  }

  it('get the same work, so a source with longer turns gets fewer', async () => {
    const given = recorded()
    given.turns(2, 'long', 3 * 65_536)
    given.turns(6, 'usual')
    expect(await given.in(4)).toEqual(['usual 1', 'usual 2', 'long 1', 'usual 3'])
  })

  it('get the same short work, even if one of them has long or many requests', async () => {
    const given = recorded()
    given.shortWork(1, 'first', 65_536)
    given.shortWork(3, 'busy', 60_000)
    given.shortWork(3, 'calm', 100)
    expect(await given.in(1)).toEqual(['calm 1', 'calm 2', 'calm 3', 'busy 1'])
  })

  it('get short work in turn if their requests are tiny, because each counts at least 1,024 characters', async () => {
    const given = recorded()
    given.shortWork(1, 'first', 65_536)
    given.shortWork(40, 'tiny', 1)
    given.shortWork(2, 'small', 1_024)
    expect((await given.in(1)).slice(0, 4)).toEqual(['tiny 1', 'small 1', 'tiny 2', 'small 2'])
  })

  it('get as much as all requests of unknown sources together', async () => {
    const given = recorded()
    given.turns(50, undefined)
    given.turns(2, 'web')
    expect(await given.in(4)).toEqual(['undefined 1', 'web 1', 'undefined 2', 'web 2'])
    await given.in(48)
    given.shortWork(1, 'first', 65_536)
    given.shortWork(50, undefined, 30_000)
    given.shortWork(2, 'web', 30_000)
    expect(await given.in(2)).toEqual(['undefined 1', 'web 1', 'undefined 2', 'web 2'])
  })
})

describe('many short requests', () => {
  it('are parsed in several ticks when they arrive in one', async () => {
    const collector = new CollectorHarness()
    const text = `{"type":"page","userId":"u"${' '.repeat(30_000)}}`
    for (let index = 0; index < 6; index += 1) collector.request(text)
    const stored = (): number => collector.producer.records(collector.topics.events).length
    // Each iteration of the event loop parses two of the six requests. The first `settle` resolves
    // after two iterations.
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

  it('waits for few turns of another source with many long requests', async () => {
    const collector = new CollectorHarness({ memory: { records: 10_000_000 } })
    for (let index = 0; index < 10; index += 1) collector.request(long)
    await collector.settle()
    collector.request(long, { headerKey: 'app-key' })
    // The request with `app-key` needs ten turns. The ten other requests together need a hundred
    // turns.
    const stored = (): number => collector.events().filter(({ sourceId }) => sourceId === 'app').length
    for (let tick = 0; tick < 15; tick += 1) await collector.settle()
    expect(stored()).toBe(500)
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

  it('without a known key is scanned for its key in one turn, and for its messages in another', async () => {
    const collector = new CollectorHarness()
    const scans: string[] = []
    const { sourceOf } = collector.sources
    collector.sources = {
      sourceOf(key) {
        scans.push(`key ${key}`)
        return sourceOf(key)
      },
    }
    const given = {
      headerKey: undefined,
      assign: (sourceId: string): boolean => {
        scans.push(`messages ${sourceId}`)
        return true
      },
    }
    for (const writeKey of ['web-key', 'app-key', 'web-key']) collector.request({ ...long, writeKey }, given)
    const ticks: string[] = []
    for (let tick = 0; tick < 60; tick += 1) {
      await collector.settle()
      ticks.push(scans.splice(0).join(' and '))
    }
    const keys = ['key web-key', 'key app-key', 'key web-key']
    const messages = ['messages web', 'messages app', 'messages web']
    expect(ticks.filter(each => each.startsWith('key'))).toEqual(keys)
    expect(ticks.filter(each => each.startsWith('messages'))).toEqual(messages)
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
