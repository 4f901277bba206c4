import { describe, expect, it } from '@jest/globals'
import { Places, type Room, type Share } from '../../../../src/core/delivery/places.ts'
import type { Webhook } from '../../../../src/core/settings.ts'

const newShare = (): Share => ({ calls: 0 })
const webhook = (url: string): Webhook => ({ label: '0', url, urlHash: '00000000', headers: {}, traceHeaders: false })

describe('Places', () => {
  const a = webhook('https://one.example.com/a')
  const b = webhook('https://one.example.com/b')
  const other = webhook('https://two.example.com/')

  it.each([
    ['per webhook', { maxInFlight: 9, perWebhook: 1, perHost: 9 }, { a: false, b: true, other: true }],
    ['per host, whatever the path', { maxInFlight: 9, perWebhook: 9, perHost: 1 }, { a: false, b: false, other: true }],
  ])('caps calls %s', (_name, caps, room) => {
    const places = new Places(caps)
    const share = newShare()
    const hasRoom = (webhook: Webhook): boolean => places.hasRoom(places.roomOf(webhook, 'crm'))
    places.take(share, places.roomOf(a, 'crm'))
    expect({ a: hasRoom(a), b: hasRoom(b), other: hasRoom(other) }).toEqual(room)
    places.release(share, places.roomOf(a, 'crm'))
    expect(hasRoom(a)).toBe(true)
  })

  it('caps the calls of the process', () => {
    const places = new Places({ maxInFlight: 2, perWebhook: 9, perHost: 9 })
    const share = newShare()
    places.take(newShare(), places.roomOf(a, 'crm'))
    expect(places.processHasRoom).toBe(true)
    places.take(share, places.roomOf(other, 'crm'))
    expect([places.processHasRoom, places.inFlight]).toEqual([false, 2])
    places.release(share, places.roomOf(other, 'crm'))
    expect(places.processHasRoom).toBe(true)
  })

  it.each([
    ['one alone takes seven eighths', 0, 56],
    ['beside one other, a fifth of what that leaves', 1, 13],
  ])('share the process: %s', (_name, others, expected) => {
    const places = new Places({ maxInFlight: 64, perWebhook: 1000, perHost: 1000 })
    for (let index = 0; index < others; index++) places.take(newShare(), places.roomOf(other, 'crm'))
    const share = newShare()
    let taken = 0
    for (; places.leavesOthersTheirs(share); taken++) places.take(share, places.roomOf(a, 'crm'))
    expect(taken).toBe(expected)
  })

  it('leave the others 4/(k + 4), however many destinations hang', () => {
    const places = new Places({ maxInFlight: 512, perWebhook: 1000, perHost: 1000 })
    const hanging = Array.from({ length: 25 }, (_, index) => ({
      share: newShare(),
      dead: places.roomOf(webhook(`https://dead-${index}.example.com/`), `dead-${index}`),
    }))
    for (let round = 0; round < 512; round++)
      for (const { share, dead } of hanging) if (places.leavesOthersTheirs(share)) places.take(share, dead)
    expect(places.leavesOthersTheirs(newShare())).toBe(true)
    expect(512 - places.inFlight).toBeGreaterThanOrEqual(((512 * 4) / (hanging.length + 4)) * 0.95)
  })

  describe('share a host', () => {
    const taken = (places: Places, room: Room): number => {
      let count = 0
      for (; places.hasRoom(room); count++) places.take(newShare(), room)
      return count
    }
    const setUp = (ids: readonly string[], caps = {}) => {
      const places = new Places({ maxInFlight: 10_000, perWebhook: 1_000, perHost: 128, ...caps })
      return { places, rooms: ids.map(id => places.roomOf(webhook(`https://one.example.com/${id}`), id)) }
    }

    it('with nobody else: one takes all of it', () => {
      const { places, rooms } = setUp(['a'])
      expect(rooms.map(room => taken(places, room))).toEqual([128])
    })

    it.each([
      ['one alone takes seven eighths', ['a', 'b'], 1, [112]],
      ['a newcomer beside it takes half of what is free until calls end', ['a', 'b'], 2, [112, 8]],
      ['the third one finds something too', ['a', 'b', 'c'], 3, [112, 8, 4]],
    ])('%s', (_name, ids, count, expected) => {
      const { places, rooms } = setUp(ids)
      expect(rooms.slice(0, count).map(room => taken(places, room))).toEqual(expected)
    })

    it.each([
      [2, 42],
      [3, 32],
      [10, 11],
      [60, 2],
      [127, 1],
    ])('%d that hang take %d each, and one more finds room', (count, each) => {
      const { places, rooms } = setUp([...Array.from({ length: count }, (_, index) => `hangs-${index}`), 'well'])
      const hanging = rooms.slice(0, count)
      const held = hanging.map(() => 0)
      for (let round = 0; round < 128; round++)
        for (const [index, room] of hanging.entries())
          if (places.hasRoom(room)) {
            places.take(newShare(), room)
            held[index] = (held[index] ?? 0) + 1
          }
      // The first one of all was alone for one call at most.
      expect(Math.max(...held)).toBe(each)
      expect(places.hasRoom(rooms[count] as Room)).toBe(true)
    })

    it('all webhooks of one destination count together', () => {
      const { places } = setUp([])
      const paths = ['1', '2', '3', '4', '5'].map(path =>
        places.roomOf(webhook(`https://one.example.com/${path}`), 'a'),
      )
      places.take(newShare(), places.roomOf(webhook('https://one.example.com/'), 'b'))
      let count = 0
      for (const room of paths) count += taken(places, room)
      expect(count).toBe(42)
    })

    it('one attempt never takes more than the limit, though its webhooks are at one host', () => {
      const { places } = setUp([], { perHost: 3 })
      const webhooks = ['1', '2', '3', '4', '5'].map(path => ({
        room: places.roomOf(webhook(`https://one.example.com/${path}`), 'a'),
      }))
      expect(places.callable(newShare(), webhooks)).toEqual({
        webhooks: webhooks.slice(0, 3),
        leftOut: 2,
        isHeldUpByOthers: false,
      })
      expect(places.inFlight).toBe(0)
    })

    it.each([
      ['none is left out', 2, 0, 2, false],
      ['its own calls use the limit', 2, 4, 0, false],
      ['its own webhooks are too many', 5, 0, 4, false],
      ['others use the limit', 2, 0, 0, true, 4],
      ['others leave room for one', 2, 0, 1, true, 3],
    ])('%s', (_name, count, own, called, isHeldUpByOthers, others = 0) => {
      const { places } = setUp([], { perHost: 4 })
      const rooms = Array.from({ length: count }, (_, path) => ({
        room: places.roomOf(webhook(`https://one.example.com/${path}`), 'a'),
      }))
      const other = others > 0 ? places.roomOf(webhook('https://one.example.com/'), 'b') : undefined
      for (let call = 0; call < others; call++) places.take(newShare(), other as Room)
      for (let call = 0; call < own; call++) places.take(newShare(), rooms[0]?.room as Room)
      const found = places.callable(newShare(), rooms)
      expect([found.webhooks.length, found.isHeldUpByOthers]).toEqual([called, isHeldUpByOthers])
    })

    it('who has less than a share and finds no room is held up by others', () => {
      const { places, rooms } = setUp(['a', 'b'], { perHost: 4 })
      const [a, b] = rooms as [Room, Room]
      for (let call = 0; call < 4; call++) places.take(newShare(), a)
      expect([places.isTakenByOthers(a), places.isTakenByOthers(b)]).toEqual([false, true])
    })

    describe('in a crowd: ten slow destinations, six quick ones, eight permits', () => {
      const crowd = (slowMs: number, quickMs: number) => {
        const ids = Array.from({ length: 16 }, (_, index) => `${index < 10 ? 'slow' : 'quick'}-${index}`)
        const { places, rooms } = setUp(ids, { perHost: 8 })
        for (const [index, room] of rooms.entries()) {
          places.take(newShare(), room)
          places.ended(newShare(), room, index < 10 ? slowMs : quickMs, 0)
        }
        return { places, slow: rooms.slice(0, 10), quick: rooms.slice(10) }
      }
      const takenInTurn = (places: Places, rooms: readonly Room[]): number => {
        let count = 0
        for (const room of rooms) {
          if (!places.hasRoom(room)) continue
          places.take(newShare(), room)
          count++
        }
        return count
      }

      it.each([
        ['slow ones leave one to quick ones', 4_800, 5, 0, 7],
        ['also while these hold some', 4_800, 5, 2, 5],
        ['slow ones may have half of them', 4_800, 5, 4, 4],
        ['and what is free, if that is less', 4_800, 5, 6, 2],
        ['none is slow: nothing stays free', 100, 5, 0, 8],
        ['all are slow: nothing stays free', 4_800, 4_800, 0, 8],
      ])('%s', (_name, slowMs, quickMs, ofQuick, expected) => {
        const { places, slow, quick } = crowd(slowMs, quickMs)
        expect(takenInTurn(places, quick.slice(0, ofQuick))).toBe(ofQuick)
        expect(takenInTurn(places, slow)).toBe(expected)
        expect(places.hasRoom(quick[5] as Room)).toBe(ofQuick + expected < 8)
      })

      it('one that turns slow while its call is in progress counts as slow from then on', () => {
        const { places, slow, quick } = crowd(4_800, 5)
        const [turned] = quick as [Room]
        places.take(newShare(), turned)
        places.take(newShare(), turned)
        places.ended(newShare(), turned, 4_800, 0)
        expect(takenInTurn(places, slow)).toBe(6)
        places.release(newShare(), turned)
        expect(takenInTurn(places, [turned])).toBe(1)
        expect(places.hasRoom(turned)).toBe(false)
      })
    })

    it('a webhook that two destinations call is shared as a host is', () => {
      const { places } = setUp([], { perWebhook: 9, perHost: 1_000 })
      const [first, second] = ['a', 'b'].map(id => places.roomOf(a, id)) as [Room, Room]
      expect([taken(places, first), taken(places, second)]).toEqual([8, 1])
    })
  })
})
