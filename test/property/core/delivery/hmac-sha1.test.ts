import { createHmac } from 'node:crypto'
import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { HmacSha1 } from '../../../../src/core/delivery/build-and-sign-requests.ts'

const key = fc.oneof(fc.string({ unit: 'binary', maxLength: 150 }), fc.constantFrom('k'.repeat(64), 'k'.repeat(65), ''))
const text = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ minLength: 1_000, maxLength: 40_000 }))

describe('HMAC-SHA1', () => {
  it('equals createHmac for consecutive texts', () => {
    fc.assert(
      fc.property(key, fc.array(text, { minLength: 1, maxLength: 5 }), (secret, texts) => {
        const hmac = new HmacSha1(secret)
        for (const each of texts)
          expect(hmac.hex(Buffer.from(each))).toBe(createHmac('sha1', secret).update(each).digest('hex'))
      }),
    )
  })

  it('matches RFC 2202, case 2', () => {
    expect(new HmacSha1('Jefe').hex(Buffer.from('what do ya want for nothing?'))).toBe(
      'effcdf6ae5eb2fa2d27416d5f184df9c259a7c79',
    )
  })
})
