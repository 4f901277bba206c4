import { describe, expect, it } from '@jest/globals'
import { createNoProxy, refuseNoProxyEntry } from '../../../../src/core/network/no-proxy.ts'

describe('an entry of noProxy', () => {
  it.each([
    'crm.example.com',
    'CRM.Example.com.',
    'localhost',
    'with_underscore.internal',
    'bücher.example',
    '.example.com',
    '.internal',
    '10.0.0.0/8',
    '192.0.2.1',
    'fd00::/8',
    '::1',
  ])('%s is allowed', text => {
    expect(refuseNoProxyEntry(text)).toBeUndefined()
  })

  it.each([
    '',
    '.',
    '..example.com',
    'a..b',
    'crm.example.com:443',
    'https://crm.example.com',
    'crm.example.com/path',
    'user@host',
    '10.0.0.0/33',
    '10.0.0.1/8',
    '10.1',
    '0x7f.1',
    '[::1]',
    'a b',
    'a\tb',
    'a%b',
  ])('%j is refused', text => {
    expect(refuseNoProxyEntry(text)).toMatch(/^must be a host name, a domain with a leading dot/)
    expect(() => createNoProxy(['a', text])).toThrow(RangeError)
  })

  it.each(['*', '*.example.com'])('%s is refused, with the form that works', text => {
    expect(refuseNoProxyEntry(text)).toContain('a leading dot, such as .example.com')
  })
})

describe('hosts that are not proxied', () => {
  const isDirect = createNoProxy(['crm.example.com', '.Internal.example.', 'bücher.example', '10.0.0.0/8', 'fd00::/8'])

  it.each([
    ['crm.example.com', true],
    ['crm.example.com.', true],
    ['CRM.EXAMPLE.COM', true],
    ['xcrm.example.com', false],
    ['a.crm.example.com', false],
    ['example.com', false],
    ['a.internal.example', true],
    ['a.b.internal.example', true],
    ['internal.example', false],
    ['ainternal.example', false],
    ['xn--bcher-kva.example', true],
    ['10.1.2.3', true],
    ['11.1.2.3', false],
    ['fd00::1', true],
    ['2001:db8::1', false],
    ['10.1.2.3.example', false],
  ])('%s: %s', (host, expected) => {
    expect(isDirect(host)).toBe(expected)
  })

  it('are none without entries', () => {
    const none = createNoProxy([])
    expect(['localhost', '127.0.0.1', 'a.example'].filter(none)).toEqual([])
  })
})
