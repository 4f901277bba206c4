import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { open, seal } from '../../../../src/core/config-objects/seal.ts'
import { sealDocument } from '../../../../src/core/config-objects/sealed-document.ts'
import {
  destinationDocument,
  firstKey,
  named,
  newNonce,
  secondKey,
} from '../../../support/config-objects/example-objects.ts'

const location = fc.record({
  kind: fc.constantFrom('source', 'destination'),
  id: fc.stringMatching(/^[a-z]{1,4}$/),
  path: fc.constantFrom('writeKey', 'writeKey[1]', 'sharedSecret', 'webhooks[0].url', 'webhooks[0].headers.A'),
})

describe('a seal', () => {
  it('opens at its place with any of the keys, and has the id of the key that sealed', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), location, fc.boolean(), (text, at, isFirst) => {
        const key = isFirst ? firstKey : secondKey
        const sealed = seal(text, key, at, newNonce)
        expect(open(sealed, [firstKey, secondKey], at)).toEqual({ kind: 'opened', text, keyId: key.id })
        expect(open(sealed, [isFirst ? secondKey : firstKey], at)).toEqual({ kind: 'key_missing', keyId: key.id })
      }),
    )
  })

  it('never opens at another place', () => {
    fc.assert(
      fc.property(fc.string(), location, location, (text, at, other) => {
        fc.pre(JSON.stringify(at) !== JSON.stringify(other))
        expect(open(seal(text, firstKey, at, newNonce), [firstKey], other)).toEqual({ kind: 'damaged' })
      }),
    )
  })

  it('never opens when a character is changed, or when it is truncated or extended', () => {
    const at = { kind: 'source', id: 'web', path: 'writeKey' }
    const characters = 'ABCXYZabcxyz0189-_'
    fc.assert(
      fc.property(
        fc.string({ minLength: 1 }),
        fc.nat(),
        fc.constantFrom(...characters),
        fc.nat(5),
        (text, place, character, cut) => {
          const { sealed } = seal(text, firstKey, at, newNonce)
          const index = 9 + (place % (sealed.length - 9))
          const changed = sealed.slice(0, index) + character + sealed.slice(index + 1)
          if (changed !== sealed) expect(open({ sealed: changed }, [firstKey], at).kind).toBe('damaged')
          expect(open({ sealed: sealed.slice(0, sealed.length - 1 - cut) }, [firstKey], at).kind).toBe('damaged')
          expect(open({ sealed: sealed + character }, [firstKey], at).kind).toBe('damaged')
        },
      ),
      { numRuns: 2_000 },
    )
  })

  it.each([null, 1, 'text', [], {}, { sealed: 1 }, { sealed: 'x' }, { sealed: 'a', other: 1 }])(
    '%j is not a seal',
    value => {
      expect(open(value, [firstKey], { kind: 'source', id: 'web', path: 'writeKey' })).toEqual({ kind: 'damaged' })
    },
  )

  it('leaves no secret of a document in its bytes', () => {
    const secret = fc.stringMatching(/^[A-Za-z0-9]{8,40}$/)
    fc.assert(
      fc.property(secret, secret, secret, (shared, header, path) => {
        const document = destinationDocument({
          sharedSecret: [shared, `${shared}-next`],
          webhooks: [{ url: `https://hooks.example.com/${path}`, headers: { 'X-Key': header } }],
        })
        const text = JSON.stringify(sealDocument(named('destination', 'crm'), document, firstKey, newNonce))
        for (const each of [shared, header, path]) expect(text).not.toContain(each)
      }),
    )
  })
})
