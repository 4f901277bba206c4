import { describe, expect, it } from '@jest/globals'
import { Places } from '../../../../src/core/delivery/places.ts'
import type { Webhook } from '../../../../src/core/settings.ts'

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
    const share = places.newShare()
    places.take(share, a)
    expect({ a: places.hasRoom(a), b: places.hasRoom(b), other: places.hasRoom(other) }).toEqual(room)
    places.release(share, a)
    expect(places.hasRoom(a)).toBe(true)
  })

  it('caps the calls of the process', () => {
    const places = new Places({ maxInFlight: 2, perWebhook: 9, perHost: 9 })
    const share = places.newShare()
    places.take(places.newShare(), a)
    expect(places.processHasRoom).toBe(true)
    places.take(share, other)
    expect([places.processHasRoom, places.inFlight]).toEqual([false, 2])
    places.release(share, other)
    expect(places.processHasRoom).toBe(true)
  })

  it.each([
    ['one alone takes seven eighths', 0, 56],
    ['beside one other, a fifth of what that leaves', 1, 13],
  ])('share the process: %s', (_name, others, expected) => {
    const places = new Places({ maxInFlight: 64, perWebhook: 1000, perHost: 1000 })
    for (let index = 0; index < others; index++) places.take(places.newShare(), other)
    const share = places.newShare()
    let taken = 0
    for (; places.leavesOthersTheirs(share); taken++) places.take(share, a)
    expect(taken).toBe(expected)
  })

  it('leave the others 4/(k + 4), however many destinations hang', () => {
    const places = new Places({ maxInFlight: 512, perWebhook: 1000, perHost: 1000 })
    const hanging = Array.from({ length: 25 }, (_, index) => ({
      share: places.newShare(),
      dead: webhook(`https://dead-${index}.example.com/`),
    }))
    for (let round = 0; round < 512; round++)
      for (const { share, dead } of hanging) if (places.leavesOthersTheirs(share)) places.take(share, dead)
    expect(places.leavesOthersTheirs(places.newShare())).toBe(true)
    expect(512 - places.inFlight).toBeGreaterThanOrEqual(((512 * 4) / (hanging.length + 4)) * 0.95)
  })
})
