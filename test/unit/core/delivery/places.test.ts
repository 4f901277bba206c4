import { describe, expect, it } from '@jest/globals'
import { Places, type Share } from '../../../../src/core/delivery/places.ts'
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
    const hasRoom = (webhook: Webhook): boolean => places.hasRoom(places.roomOf(webhook))
    places.take(share, places.roomOf(a))
    expect({ a: hasRoom(a), b: hasRoom(b), other: hasRoom(other) }).toEqual(room)
    places.release(share, places.roomOf(a))
    expect(hasRoom(a)).toBe(true)
  })

  it('caps the calls of the process', () => {
    const places = new Places({ maxInFlight: 2, perWebhook: 9, perHost: 9 })
    const share = newShare()
    places.take(newShare(), places.roomOf(a))
    expect(places.processHasRoom).toBe(true)
    places.take(share, places.roomOf(other))
    expect([places.processHasRoom, places.inFlight]).toEqual([false, 2])
    places.release(share, places.roomOf(other))
    expect(places.processHasRoom).toBe(true)
  })

  it.each([
    ['one alone takes seven eighths', 0, 56],
    ['beside one other, a fifth of what that leaves', 1, 13],
  ])('share the process: %s', (_name, others, expected) => {
    const places = new Places({ maxInFlight: 64, perWebhook: 1000, perHost: 1000 })
    for (let index = 0; index < others; index++) places.take(newShare(), places.roomOf(other))
    const share = newShare()
    let taken = 0
    for (; places.leavesOthersTheirs(share); taken++) places.take(share, places.roomOf(a))
    expect(taken).toBe(expected)
  })

  it('leave the others 4/(k + 4), however many destinations hang', () => {
    const places = new Places({ maxInFlight: 512, perWebhook: 1000, perHost: 1000 })
    const hanging = Array.from({ length: 25 }, (_, index) => ({
      share: newShare(),
      dead: places.roomOf(webhook(`https://dead-${index}.example.com/`)),
    }))
    for (let round = 0; round < 512; round++)
      for (const { share, dead } of hanging) if (places.leavesOthersTheirs(share)) places.take(share, dead)
    expect(places.leavesOthersTheirs(newShare())).toBe(true)
    expect(512 - places.inFlight).toBeGreaterThanOrEqual(((512 * 4) / (hanging.length + 4)) * 0.95)
  })
})
