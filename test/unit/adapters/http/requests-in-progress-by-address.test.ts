import { describe, expect, it } from '@jest/globals'
import { AddressCounter } from '../../../../src/adapters/http/requests-in-progress-by-address.ts'

describe('AddressCounter', () => {
  it('refuses an address at its maximum until one of its entries leaves', () => {
    const counter = new AddressCounter(2)
    expect([counter.enter('a'), counter.enter('a'), counter.enter('a'), counter.enter('b')]).toEqual([
      true,
      true,
      false,
      true,
    ])
    counter.leave('b')
    expect(counter.enter('a')).toBe(false)
    counter.leave('a')
    expect(counter.enter('a')).toBe(true)
  })
})
