import { expect, it } from '@jest/globals'
import fc from 'fast-check'
import { createNoProxy } from '../../../../src/core/network/no-proxy.ts'

const label = fc.stringMatching(/^[a-z][a-z0-9]{0,2}$/)
const labels = fc.array(fc.constantFrom('a', 'b', 'c', 'example', 'com'), { minLength: 1, maxLength: 4 })
const name = fc.oneof(labels, fc.array(label, { minLength: 1, maxLength: 3 }))
const entry = fc.record({ isDomain: fc.boolean(), name })

it('a host is direct exactly when it equals a name, or ends in the labels of a domain and has more', () => {
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 5 }), name, fc.boolean(), (entries, host, isUpper) => {
      const isDirect = createNoProxy(entries.map(each => `${each.isDomain ? '.' : ''}${each.name.join('.')}`))
      const expected = entries.some(({ isDomain, name: own }) => {
        const end = host.slice(-own.length).join()
        return end === own.join() && (isDomain ? host.length > own.length : host.length === own.length)
      })
      const text = host.join('.')
      expect(isDirect(isUpper ? text.toUpperCase() : text)).toBe(expected)
    }),
  )
})

it('an address is direct exactly when it is in a block', () => {
  const address = fc.tuple(fc.constantFrom(10, 11), fc.nat(3), fc.nat(255), fc.nat(255))
  fc.assert(
    fc.property(address, fc.constantFrom(10, 11), fc.nat(3), (bytes, first, second) => {
      const isDirect = createNoProxy([`${first}.${second}.0.0/16`])
      expect(isDirect(bytes.join('.'))).toBe(bytes[0] === first && bytes[1] === second)
    }),
  )
})
