import { expect, it } from '@jest/globals'
import { PacedBucket } from '../../../../src/core/flow/paced-token-bucket.ts'

it.each([
  ['of 100 ms', 50, 5],
  ['of 100 ms', 1_000, 100],
  ['two at least', 0.1, 2],
])('after a pause it holds the tokens %s: %d per second, %d tokens', (_, perSecond, held) => {
  const bucket = new PacedBucket()
  bucket.fill(1_000 * perSecond, perSecond)
  for (let count = 0; count < held; count++) {
    expect(bucket.msToWait(perSecond)).toBe(0)
    bucket.spend()
  }
  expect(bucket.msToWait(perSecond)).toBeGreaterThan(0)
})

it('says how long it takes until a token is there', () => {
  const bucket = new PacedBucket()
  expect(bucket.msToWait(50)).toBe(20)
  bucket.fill(0.5, 50)
  expect(bucket.msToWait(50)).toBe(10)
  expect(bucket.msToWait(0.5)).toBe(1_000)
  expect(bucket.msToWait(0)).toBe(Number.POSITIVE_INFINITY)
})

it('loses nothing when each timer is late by less than the interval', () => {
  const bucket = new PacedBucket()
  let spent = 0
  for (let now = 0, filledAt = 0; now <= 20_000; now += bucket.msToWait(5) + 150) {
    bucket.fill((5 * (now - filledAt)) / 1_000, 5)
    filledAt = now
    for (; bucket.msToWait(5) === 0; spent++) bucket.spend()
  }
  expect(spent).toBeGreaterThanOrEqual(98)
})
