import type { IncomingMessage } from 'node:http'
import { describe, expect, it } from '@jest/globals'
import { clientAddressOf } from '../../../../src/adapters/http/client-address.ts'

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
