import type { IncomingMessage } from 'node:http'
import { describe, expect, it } from '@jest/globals'
import { AddressCounter, clientAddressOf } from '../../../../src/adapters/http/client-address.ts'

const request = (header: string | string[] | undefined, remoteAddress: string | undefined): IncomingMessage =>
  ({ headers: { 'x-forwarded-for': header }, socket: { remoteAddress } }) as unknown as IncomingMessage

describe('the address of a client', () => {
  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['198.51.100.7, 192.0.2.1', '192.0.2.1'],
    [['198.51.100.7', '192.0.2.1'], '192.0.2.1'],
    ['192.0.2.1:4711', '192.0.2.1'],
    ['[2001:db8::1]:4711', '2001:db8:0:0::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['forged', '203.0.113.9'],
    ['', '203.0.113.9'],
    [undefined, '203.0.113.9'],
  ])('is taken from the header %j as %s', (header, address) => {
    expect(clientAddressOf(request(header, '203.0.113.9'), 'X-Forwarded-For')).toBe(address)
  })

  it('is the address of the socket where no header is configured', () => {
    expect(clientAddressOf(request('192.0.2.1', '203.0.113.9'), undefined)).toBe('203.0.113.9')
  })

  it('is unknown when the socket is closed already', () => {
    expect(clientAddressOf(request(undefined, undefined), undefined)).toBe('unknown')
  })
})

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
