import { describe, expect, it } from '@jest/globals'
import { crossOrigin, isPreflight, preflight } from '../../../../src/adapters/http/cors.ts'

describe('headers that let a page read the response', () => {
  it.each(['https://shop.example', 'http://localhost:3000', 'null', 'capacitor://localhost', 'chrome-extension://abc'])(
    '%s',
    origin => {
      expect(crossOrigin({ origin })).toEqual({
        'access-control-allow-origin': origin,
        'access-control-allow-credentials': 'true',
        'access-control-expose-headers': 'Retry-After',
        vary: 'Origin',
      })
    },
  )

  it.each([
    ['none', undefined],
    ['empty', ''],
    ['with a space', 'https://a b'],
    ['of 513 characters', `https://${'a'.repeat(505)}`],
    ['no ASCII', 'https://ü.example'],
  ])('no origin: %s', (_, origin) => {
    expect(crossOrigin(origin === undefined ? {} : { origin })).toEqual({})
  })
})

describe('a preflight', () => {
  it.each([
    ['has both headers', { origin: 'https://a', 'access-control-request-method': 'POST' }, true],
    ['has an origin', { 'access-control-request-method': 'POST' }, false],
    ['asks for a method', { origin: 'https://a' }, false],
  ])('%s: %#', (_, headers, is) => expect(isPreflight(headers)).toBe(is))

  const allowed = (asked?: string) =>
    preflight(asked === undefined ? {} : { 'access-control-request-headers': asked }, 'OPTIONS, POST')[
      'access-control-allow-headers'
    ]
  const always = 'authorization, content-type, x-retry-count, x-write-key'

  it.each([
    ['no requested headers', undefined, always],
    ['the headers that Segment requests', 'authorization,content-type,x-retry-count', always],
    ['AnonymousId, which RudderStack requests', 'AnonymousId, authorization', `${always}, anonymousid`],
    ['not a list of names: the response repeats none of it', 'a b', always],
    ['an attempt to add a header', 'a\r\nx-evil: 1', always],
    ['empty names', 'a,,b', always],
    ['a list of 1,025 characters', 'a'.repeat(1_025), always],
  ])('%s', (_, asked, names) => expect(allowed(asked)).toBe(names))
})
