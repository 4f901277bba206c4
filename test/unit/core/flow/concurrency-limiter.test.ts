import { describe, expect, it } from '@jest/globals'
import {
  ConcurrencyLimiter,
  type DestinationCalls,
  type PermitShares,
} from '../../../../src/core/flow/concurrency-limiter.ts'
import type { Webhook } from '../../../../src/core/settings/settings.ts'

const newShare = (): DestinationCalls => ({ calls: 0, turns: 0 })
const webhook = (url: string): Webhook => ({ label: '0', url, urlHash: '00000000', headers: {}, traceHeaders: false })

describe('ConcurrencyLimiter', () => {
  const a = webhook('https://one.example.com/a')
  const b = webhook('https://one.example.com/b')
  const other = webhook('https://two.example.com/')

  it.each([
    ['per webhook', { maxInFlight: 9, perWebhook: 1, perHost: 9 }, { a: false, b: true, other: true }],
    ['per host, for any path', { maxInFlight: 9, perWebhook: 9, perHost: 1 }, { a: false, b: false, other: true }],
  ])('limits requests %s', (_name, caps, permits) => {
    const limiter = new ConcurrencyLimiter(caps)
    const share = newShare()
    const hasPermit = (webhook: Webhook): boolean => limiter.hasPermit(limiter.permitsOf(webhook, 'crm'))
    limiter.acquire(share, limiter.permitsOf(a, 'crm'))
    expect({ a: hasPermit(a), b: hasPermit(b), other: hasPermit(other) }).toEqual(permits)
    limiter.release(share, limiter.permitsOf(a, 'crm'))
    expect(hasPermit(a)).toBe(true)
  })

  it('limits the requests of the process', () => {
    const limiter = new ConcurrencyLimiter({ maxInFlight: 2, perWebhook: 9, perHost: 9 })
    const share = newShare()
    limiter.acquire(newShare(), limiter.permitsOf(a, 'crm'))
    expect(limiter.hasCapacity).toBe(true)
    limiter.acquire(share, limiter.permitsOf(other, 'crm'))
    expect([limiter.hasCapacity, limiter.inFlight]).toEqual([false, 2])
    limiter.release(share, limiter.permitsOf(other, 'crm'))
    expect(limiter.hasCapacity).toBe(true)
  })

  it.each([
    ['one destination alone gets seven eighths', 0, 56],
    ['beside another one, a fifth of the rest', 1, 13],
  ])('shares the permits of the process: %s', (_name, others, expected) => {
    const limiter = new ConcurrencyLimiter({ maxInFlight: 64, perWebhook: 1000, perHost: 1000 })
    for (let index = 0; index < others; index++) limiter.acquire(newShare(), limiter.permitsOf(other, 'crm'))
    const share = newShare()
    let taken = 0
    for (; limiter.hasFairShare(share); taken++) limiter.acquire(share, limiter.permitsOf(a, 'crm'))
    expect(taken).toBe(expected)
  })

  it('leaves 4/(k + 4) of the permits when k destinations hang', () => {
    const limiter = new ConcurrencyLimiter({ maxInFlight: 512, perWebhook: 1000, perHost: 1000 })
    const hanging = Array.from({ length: 25 }, (_, index) => ({
      share: newShare(),
      dead: limiter.permitsOf(webhook(`https://dead-${index}.example.com/`), `dead-${index}`),
    }))
    for (let round = 0; round < 512; round++)
      for (const { share, dead } of hanging) if (limiter.hasFairShare(share)) limiter.acquire(share, dead)
    expect(limiter.hasFairShare(newShare())).toBe(true)
    expect(512 - limiter.inFlight).toBeGreaterThanOrEqual(((512 * 4) / (hanging.length + 4)) * 0.95)
  })

  describe('shares the permits of a host', () => {
    const taken = (limiter: ConcurrencyLimiter, permits: PermitShares): number => {
      let count = 0
      for (; limiter.hasPermit(permits); count++) limiter.acquire(newShare(), permits)
      return count
    }
    const setUp = (ids: readonly string[], caps = {}) => {
      const limiter = new ConcurrencyLimiter({ maxInFlight: 10_000, perWebhook: 1_000, perHost: 128, ...caps })
      return { limiter, rooms: ids.map(id => limiter.permitsOf(webhook(`https://one.example.com/${id}`), id)) }
    }

    it('alone: one destination gets all permits', () => {
      const { limiter, rooms } = setUp(['a'])
      expect(rooms.map(permits => taken(limiter, permits))).toEqual([128])
    })

    it.each([
      ['one of two destinations gets seven eighths', ['a', 'b'], 1, [112]],
      ['a newcomer gets half of the free permits until requests end', ['a', 'b'], 2, [112, 8]],
      ['a third one gets half of the rest', ['a', 'b', 'c'], 3, [112, 8, 4]],
    ])('%s', (_name, ids, count, expected) => {
      const { limiter, rooms } = setUp(ids)
      expect(rooms.slice(0, count).map(permits => taken(limiter, permits))).toEqual(expected)
    })

    it.each([
      [2, 42],
      [3, 32],
      [10, 11],
      [60, 2],
      [127, 1],
    ])('%d hanging destinations get %d each, and another one finds permits', (count, each) => {
      const { limiter, rooms } = setUp([...Array.from({ length: count }, (_, index) => `hangs-${index}`), 'well'])
      const hanging = rooms.slice(0, count)
      const held = hanging.map(() => 0)
      for (let round = 0; round < 128; round++)
        for (const [index, permits] of hanging.entries())
          if (limiter.hasPermit(permits)) {
            limiter.acquire(newShare(), permits)
            held[index] = (held[index] ?? 0) + 1
          }
      // The destinations take permits in turn, one at a time, so the first one got no more than the
      // others.
      expect(Math.max(...held)).toBe(each)
      expect(limiter.hasPermit(rooms[count] as PermitShares)).toBe(true)
    })

    it('counts all webhooks of one destination together', () => {
      const { limiter } = setUp([])
      const paths = ['1', '2', '3', '4', '5'].map(path =>
        limiter.permitsOf(webhook(`https://one.example.com/${path}`), 'a'),
      )
      limiter.acquire(newShare(), limiter.permitsOf(webhook('https://one.example.com/'), 'b'))
      let count = 0
      for (const permits of paths) count += taken(limiter, permits)
      expect(count).toBe(42)
    })

    it('one attempt never uses more permits than the limit, even with all webhooks on one host', () => {
      const { limiter } = setUp([], { perHost: 3 })
      const webhooks = ['1', '2', '3', '4', '5'].map(path => ({
        permits: limiter.permitsOf(webhook(`https://one.example.com/${path}`), 'a'),
      }))
      expect(limiter.callable(newShare(), webhooks)).toEqual({
        webhooks: webhooks.slice(0, 3),
        webhooksWithoutPermit: 2,
        isHeldUpByOthers: false,
      })
      expect(limiter.inFlight).toBe(0)
    })

    it.each([
      ['none is left out', 2, 0, 2, false],
      ['its own requests use the limit', 2, 4, 0, false],
      ['its own webhooks are too many', 5, 0, 4, false],
      ['others use the limit', 2, 0, 0, true, 4],
      ['others leave permits for one', 2, 0, 1, true, 3],
    ])('%s', (_name, count, own, called, isHeldUpByOthers, others = 0) => {
      const { limiter } = setUp([], { perHost: 4 })
      const rooms = Array.from({ length: count }, (_, path) => ({
        permits: limiter.permitsOf(webhook(`https://one.example.com/${path}`), 'a'),
      }))
      const other = others > 0 ? limiter.permitsOf(webhook('https://one.example.com/'), 'b') : undefined
      for (let call = 0; call < others; call++) limiter.acquire(newShare(), other as PermitShares)
      for (let call = 0; call < own; call++) limiter.acquire(newShare(), rooms[0]?.permits as PermitShares)
      const found = limiter.callable(newShare(), rooms)
      expect([found.webhooks.length, found.isHeldUpByOthers]).toEqual([called, isHeldUpByOthers])
    })

    it('webhooks take turns to get the only permit', () => {
      const { limiter } = setUp([], { perHost: 1 })
      const webhooks = ['1', '2'].map(path => ({
        permits: limiter.permitsOf(webhook(`https://one.example.com/${path}`), 'a'),
      }))
      const share = newShare()
      const called = Array.from({ length: 4 }, () => {
        const { webhooks: found } = limiter.callable(share, webhooks)
        limiter.acquire(share, found[0]?.permits as PermitShares)
        // A call of `callable` that finds no free permit does not change which webhook is next.
        expect(limiter.callable(share, webhooks).webhooks).toEqual([])
        limiter.release(share, found[0]?.permits as PermitShares)
        return found
      })
      expect(called.flat().map(each => webhooks.indexOf(each))).toEqual([0, 1, 0, 1])
    })

    it('a destination below its share without free permits is held up by others', () => {
      const { limiter, rooms } = setUp(['a', 'b'], { perHost: 4 })
      const [a, b] = rooms as [PermitShares, PermitShares]
      for (let call = 0; call < 4; call++) limiter.acquire(newShare(), a)
      expect([limiter.isHeldByOthers(a), limiter.isHeldByOthers(b)]).toEqual([false, true])
    })

    describe('crowded: ten slow destinations, six fast ones, eight permits', () => {
      const crowd = (slowMs: number, quickMs: number) => {
        const ids = Array.from({ length: 16 }, (_, index) => `${index < 10 ? 'slow' : 'quick'}-${index}`)
        const { limiter, rooms } = setUp(ids, { perHost: 8 })
        for (const [index, permits] of rooms.entries()) {
          limiter.acquire(newShare(), permits)
          limiter.ended(newShare(), permits, index < 10 ? slowMs : quickMs, 0)
        }
        return { limiter, slow: rooms.slice(0, 10), quick: rooms.slice(10) }
      }
      const takenInTurn = (limiter: ConcurrencyLimiter, rooms: readonly PermitShares[]): number => {
        let count = 0
        for (const permits of rooms) {
          if (!limiter.hasPermit(permits)) continue
          limiter.acquire(newShare(), permits)
          count++
        }
        return count
      }

      it.each([
        ['slow ones leave one permit to fast ones', 4_800, 5, 0, 7],
        ['slow ones leave one while fast ones hold two', 4_800, 5, 2, 5],
        ['slow ones may hold half of the permits', 4_800, 5, 4, 4],
        ['slow ones get the free permits if these are fewer', 4_800, 5, 6, 2],
        ['none is slow: nothing stays free', 100, 5, 0, 8],
        ['all are slow: nothing stays free', 4_800, 4_800, 0, 8],
      ])('%s', (_name, slowMs, quickMs, ofQuick, expected) => {
        const { limiter, slow, quick } = crowd(slowMs, quickMs)
        expect(takenInTurn(limiter, quick.slice(0, ofQuick))).toBe(ofQuick)
        expect(takenInTurn(limiter, slow)).toBe(expected)
        expect(limiter.hasPermit(quick[5] as PermitShares)).toBe(ofQuick + expected < 8)
      })

      it('a destination that becomes slow during a request counts as slow immediately', () => {
        const { limiter, slow, quick } = crowd(4_800, 5)
        const [turned] = quick as [PermitShares]
        limiter.acquire(newShare(), turned)
        limiter.acquire(newShare(), turned)
        limiter.ended(newShare(), turned, 4_800, 0)
        expect(takenInTurn(limiter, slow)).toBe(6)
        limiter.release(newShare(), turned)
        expect(takenInTurn(limiter, [turned])).toBe(1)
        expect(limiter.hasPermit(turned)).toBe(false)
      })
    })

    it('a webhook of two destinations is shared like a host', () => {
      const { limiter } = setUp([], { perWebhook: 9, perHost: 1_000 })
      const [first, second] = ['a', 'b'].map(id => limiter.permitsOf(a, id)) as [PermitShares, PermitShares]
      expect([taken(limiter, first), taken(limiter, second)]).toEqual([8, 1])
    })
  })
})
