import { describe, expect, it } from '@jest/globals'
import { Places } from '../../../../src/core/delivery/places.ts'
import type { Webhook } from '../../../../src/core/settings.ts'

const webhook = (url: string): Webhook => ({ label: '0', url, urlHash: '00000000', headers: {} })

describe('Places', () => {
  const a = webhook('https://one.example.com/a')
  const b = webhook('https://one.example.com/b')
  const other = webhook('https://two.example.com/')

  it.each([
    ['per webhook', { maxInFlight: 9, perWebhook: 1, perHost: 9 }, { a: false, b: true, other: true }],
    ['per host, whatever the path', { maxInFlight: 9, perWebhook: 9, perHost: 1 }, { a: false, b: false, other: true }],
  ])('caps calls %s', (_name, caps, room) => {
    const places = new Places(caps)
    places.take(a)
    expect({ a: places.hasRoom(a), b: places.hasRoom(b), other: places.hasRoom(other) }).toEqual(room)
    places.release(a)
    expect(places.hasRoom(a)).toBe(true)
  })

  it('caps the calls of the process', () => {
    const places = new Places({ maxInFlight: 2, perWebhook: 9, perHost: 9 })
    places.take(a)
    expect(places.processHasRoom).toBe(true)
    places.take(other)
    expect([places.processHasRoom, places.inFlight]).toEqual([false, 2])
    places.release(other)
    expect(places.processHasRoom).toBe(true)
  })
})
