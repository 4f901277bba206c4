import { describe, expect, it } from '@jest/globals'
import { FailureThrottle } from '../../../../src/core/operator/authentication-failure-throttle.ts'

function failing(throttle: FailureThrottle, address: string, times: number, now = 0): void {
  for (let time = 0; time < times; time++) throttle.failed(address, now)
}

describe('one address', () => {
  it('permits ten wrong keys, then one per ten seconds', () => {
    const throttle = new FailureThrottle(0)
    failing(throttle, '192.0.2.1', 9)
    expect(throttle.secondsToWait('192.0.2.1', 0)).toBe(0)
    failing(throttle, '192.0.2.1', 1)
    expect(throttle.secondsToWait('192.0.2.1', 0)).toBe(10)
    expect(throttle.secondsToWait('192.0.2.1', 10)).toBe(10)
    expect(throttle.secondsToWait('192.0.2.2', 10)).toBe(0)
    expect(throttle.secondsToWait('192.0.2.1', 9_999)).toBe(1)
    expect(throttle.secondsToWait('192.0.2.1', 10_000)).toBe(0)
    failing(throttle, '192.0.2.1', 1, 10_000)
    expect(throttle.secondsToWait('192.0.2.1', 10_000)).toBe(10)
  })

  it.each([
    ['of one IPv6 network', '2001:db8::1', '2001:db8::2:3:4:5', true],
    ['of two IPv6 networks', '2001:db8::1', '2001:db8:0:1::1', false],
    ['in both forms of IPv4', '192.0.2.1', '::ffff:192.0.2.1', true],
    ['that are not addresses', '', 'x', false],
  ])('whether two addresses count as one client: %s', (_name, first, second, isOne) => {
    const throttle = new FailureThrottle(0)
    failing(throttle, first, 10)
    expect(throttle.secondsToWait(second, 0) > 0).toBe(isOne)
  })
})

describe('all addresses together', () => {
  const many = (throttle: FailureThrottle): void => {
    for (let index = 0; index < 100; index++) throttle.failed(`192.0.2.${index}`, 0)
  }

  it('permits a hundred wrong keys of all addresses, then one per second', () => {
    const throttle = new FailureThrottle(0)
    many(throttle)
    expect(throttle.secondsToWait('198.51.100.1', 0)).toBe(1)
    expect(throttle.secondsToWait('198.51.100.1', 999)).toBe(1)
    expect(throttle.secondsToWait('198.51.100.1', 1_000)).toBe(0)
  })

  it('admit a client that has used a valid key before', () => {
    const throttle = new FailureThrottle(0)
    throttle.succeeded('198.51.100.1')
    many(throttle)
    expect(throttle.secondsToWait('198.51.100.1', 0)).toBe(0)
  })

  it('makes the others wait one second at most, however often addresses with a valid key fail', () => {
    const throttle = new FailureThrottle(0)
    throttle.succeeded('192.0.2.1')
    many(throttle)
    failing(throttle, '192.0.2.1', 10)
    expect(throttle.secondsToWait('198.51.100.1', 0)).toBe(1)
  })

  const numbered = (index: number): string => `10.0.${index >> 8}.${index & 255}`

  it('remembers up to a thousand addresses that sent wrong keys', () => {
    const throttle = new FailureThrottle(0)
    // A known address has only its own limit, not the limit of all addresses together.
    throttle.succeeded('192.0.2.1')
    failing(throttle, '192.0.2.1', 20)
    for (let index = 0; index < 1_000; index++) throttle.failed(numbered(index), 0)
    expect(throttle.secondsToWait('192.0.2.1', 0)).toBe(0)
  })

  it('remembers up to a thousand addresses that sent a valid key, however many addresses send wrong keys', () => {
    const throttle = new FailureThrottle(0)
    for (let index = 0; index <= 1_000; index++) throttle.succeeded(numbered(index))
    for (let index = 2_000; index < 4_000; index++) throttle.failed(numbered(index), 0)
    expect([0, 1, 1_000].map(index => throttle.secondsToWait(numbered(index), 0) > 0)).toEqual([true, false, false])
  })
})

describe('sessions', () => {
  const address = '192.0.2.1'

  it('that were valid need not wait, other ones must', () => {
    const throttle = new FailureThrottle(0)
    throttle.succeeded(address, 'token')
    failing(throttle, address, 10)
    expect(['token', 'other', undefined].map(token => throttle.secondsToWait(address, 0, token))).toEqual([0, 10, 10])
  })

  it('that are no longer valid count from the second time, and must wait like other ones', () => {
    const throttle = new FailureThrottle(0)
    throttle.succeeded(address, 'token')
    failing(throttle, address, 10)
    throttle.failed(address, 0, 'token')
    expect(throttle.secondsToWait(address, 0, 'token')).toBe(10)
    throttle.failed(address, 0, 'token')
    expect(throttle.secondsToWait(address, 0, 'token')).toBe(20)
  })

  it('are remembered up to a number of a thousand', () => {
    const throttle = new FailureThrottle(0)
    for (let index = 0; index <= 1_000; index++) throttle.succeeded(address, `token-${index}`)
    failing(throttle, address, 10)
    expect(throttle.secondsToWait(address, 0, 'token-0')).toBe(10)
    expect(throttle.secondsToWait(address, 0, 'token-1')).toBe(0)
  })
})
