import { expect, it } from '@jest/globals'
import fc from 'fast-check'
import { maskSecrets } from '../../../../src/core/operator/mask-destination-secrets-in-text.ts'

const secret = fc.string({ minLength: 8, maxLength: 40 }).filter(text => !text.includes('*'))
const around = fc.constantFrom('', ' ', '"', '\n', 'Bearer ')
const parts = fc.array(fc.tuple(around, secret), { minLength: 1, maxLength: 5 })

it('a masked text contains no secret', () => {
  fc.assert(
    fc.property(parts, fc.boolean(), fc.nat(80), (all, isJson, cutAt) => {
      const secrets = all.map(([, text]) => text)
      const whole = all.flat().join('')
      const text = isJson ? JSON.stringify(whole) : whole
      for (const shown of [maskSecrets(text, secrets, false), maskSecrets(text.slice(0, cutAt), secrets, true)])
        expect(secrets.filter(each => shown.includes(each))).toEqual([])
    }),
  )
})

it('a secret that is cut at the end shows at most 7 of its characters', () => {
  fc.assert(
    fc.property(secret, fc.nat(), (text, cut) => {
      const shown = maskSecrets(`\n${text.slice(0, cut % text.length)}`, [text], true)
      expect(shown).toMatch(/^\n(.{0,7}|\*\*\*)$/)
    }),
  )
})
