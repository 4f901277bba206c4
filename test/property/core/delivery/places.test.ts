import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { Places, type Room, type Share } from '../../../../src/core/delivery/places.ts'

const perHost = fc.integer({ min: 1, max: 64 })
const destinations = fc.integer({ min: 1, max: 12 })
const steps = fc.array(fc.tuple(fc.nat(11), fc.nat(2), fc.boolean()), { maxLength: 400 })

describe('Places of one host', () => {
  it('never have more calls than the limit, and leave a destination without calls a place while any is free', () => {
    fc.assert(
      fc.property(perHost, destinations, steps, (limit, count, given) => {
        const places = new Places({ maxInFlight: 100_000, perWebhook: 100_000, perHost: limit })
        const share: Share = { calls: 0 }
        const rooms = Array.from({ length: count }, (_, id) =>
          [0, 1, 2].map(path => places.roomOf({ url: `https://one.example.com/${id}/${path}` }, `destination-${id}`)),
        )
        const held: Room[][] = rooms.map(() => [])
        for (const [who, path, isStart] of given) {
          const id = who % count
          const room = rooms[id]?.[path] as Room
          if (!isStart) {
            const ended = held[id]?.shift()
            if (ended !== undefined) places.release(share, ended)
          } else if (places.hasRoom(room)) {
            places.take(share, room)
            held[id]?.push(room)
          }
          expect(places.inFlight).toBeLessThanOrEqual(limit)
          for (const [other, [first]] of rooms.entries())
            if (held[other]?.length === 0) expect(places.hasRoom(first as Room)).toBe(places.inFlight < limit)
        }
      }),
    )
  })

  it('give each destination that always has work its equal share, as soon as the calls from before have ended', () => {
    fc.assert(
      fc.property(perHost, destinations, steps, (limit, count, given) => {
        const places = new Places({ maxInFlight: 100_000, perWebhook: 100_000, perHost: limit })
        const share: Share = { calls: 0 }
        const rooms = Array.from({ length: count }, (_, id) =>
          places.roomOf({ url: `https://one.example.com/${id}` }, `destination-${id}`),
        )
        const held = rooms.map(() => 0)
        const start = (id: number): void => {
          const room = rooms[id] as Room
          if (!places.hasRoom(room)) return
          places.take(share, room)
          held[id] = (held[id] ?? 0) + 1
        }
        for (const [who] of given) start(who % count)
        const before = [...held]
        const total = (): number => held.reduce((all, each) => all + each, 0)
        // All calls from before end, oldest destination first, while everybody asks for more in turn.
        for (const [id, calls] of before.entries())
          for (let call = 0; call < calls; call++) {
            places.release(share, rooms[id] as Room)
            held[id] = (held[id] ?? 0) - 1
            for (const other of rooms.keys()) start(other)
          }
        for (let round = 0; round < limit; round++) for (const id of rooms.keys()) start(id)
        const fair = count === 1 ? limit : Math.min(Math.floor(limit / (count + 1)), Math.floor(limit / count))
        if (limit >= count) for (const calls of held) expect(calls).toBeGreaterThanOrEqual(Math.min(1, fair))
        expect(total()).toBeLessThanOrEqual(limit)
        if (count === 1) expect(total()).toBe(limit)
      }),
    )
  })
})
