import { describe, expect, it } from '@jest/globals'
import { createTimeSlices } from '../../../../src/services/collector/time-slices.ts'
import { CollectorHarness } from '../../../support/collector/harness.ts'
import { ManualClock } from '../../../support/manual-clock.ts'

const page = (messageId: string, fields: object = {}): object => ({ type: 'page', userId: 'u', messageId, ...fields })
const accepted = { kind: 'accepted', rejected: [] }

describe('turns', () => {
  it('are given one per tick of the event loop, in the order of the calls', async () => {
    const nextTurn = createTimeSlices(new ManualClock())
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
