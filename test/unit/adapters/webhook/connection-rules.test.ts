import { expect, it } from '@jest/globals'
import {
  createConnectionRules,
  UnresolvedName,
  UnusableIdentity,
} from '../../../../src/adapters/webhook/connection-rules.ts'
import { tlsIdentityOf } from '../../../../src/core/network/tls-identity.ts'
import { Secret } from '../../../../src/core/secret.ts'
import { createAuthority, selfSigned } from '../../../support/network/certificates.ts'

it.each([true, false])('a name without an address does not end the process (all: %s)', async all => {
  const { connect } = createConnectionRules({ allow: [], ports: undefined, ca: undefined } as never, async () => [])
  const answer = Promise.withResolvers<unknown>()
  connect.lookup('empty.example.com', { all }, answer.resolve)
  const error = await answer.promise
  expect(error).toBeInstanceOf(UnresolvedName)
  expect(error).toMatchObject({ code: 'ENOTFOUND', message: expect.stringContaining('the name has no addresses') })
})

it('a client certificate that OpenSSL refuses costs no parsing of the CAs', () => {
  const authority = createAuthority()
  let readings = 0
  const network = {
    allow: [],
    ports: undefined,
    get ca() {
      readings++
      return authority.cert
    },
  }
  const rules = createConnectionRules(network, async () => [])
  const { cert, key } = authority.issue({ usage: 'client' })
  const identityWith = (keyText: string) => tlsIdentityOf({ cert, key: new Secret(keyText), ca: undefined })
  readings = 0
  expect(() => rules.withIdentity(identityWith(selfSigned().key))).toThrow(UnusableIdentity)
  expect(readings).toBe(0)
  rules.withIdentity(identityWith(key))
  expect(readings).toBeGreaterThan(0)
})
