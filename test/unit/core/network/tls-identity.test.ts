import { inspect } from 'node:util'
import { expect, it } from '@jest/globals'
import { tlsIdentityOf } from '../../../../src/core/network/tls-identity.ts'
import { Secret } from '../../../../src/core/secret.ts'

const given = { cert: 'certificate', key: new Secret('hush'), ca: 'authority' }

it('the same contents have the same id, and each other content has another one', () => {
  const changes = [{}, { cert: 'x' }, { key: new Secret('x') }, { ca: 'x' }, { ca: undefined }, { cert: undefined }]
  const ids = changes.map(change => tlsIdentityOf({ ...given, ...change }).id)
  expect(new Set(ids).size).toBe(changes.length)
  expect(tlsIdentityOf({ ...given, key: new Secret('hush') }).id).toBe(ids[0])
})

it('contents do not replace each other', () => {
  const nothing = { cert: undefined, key: undefined, ca: undefined }
  expect(tlsIdentityOf({ ...nothing, cert: 'x' }).id).not.toBe(tlsIdentityOf({ ...nothing, ca: 'x' }).id)
})

it('never shows the key', () => {
  const identity = tlsIdentityOf(given)
  expect(`${JSON.stringify(identity)}${inspect(identity)}`).not.toContain('hush')
})
