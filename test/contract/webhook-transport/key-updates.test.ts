import { describe, expect, it } from '@jest/globals'
import { classify } from '../../../src/core/delivery/outcomes-reasons-and-classification.ts'
import { Secret } from '../../../src/core/secret.ts'
import { createAuthority } from '../../support/network/certificates.ts'
import type { AnswerWithRecords } from '../../support/network/key-update-server.ts'
import { answer } from '../../support/webhook/scripted-tcp-server.ts'
import {
  adapters,
  answered,
  caller,
  keyUpdateServer,
  loopbackOnly,
  proxyServer,
  soon,
  through,
} from './tested-transports-and-servers.ts'

const authority = createAuthority()
const leaf = authority.issue()
const client = authority.issue({ usage: 'client' })
const tlsIdentity = { id: 'client', cert: client.cert, key: new Secret(client.key), ca: undefined }
const network = { ...loopbackOnly, ca: authority.cert }

/** Responds after `before` KeyUpdates, and then sends `after` of them. */
const withKeyUpdates =
  (before: number, after = 0): AnswerWithRecords =>
  records => [
    ...Array.from({ length: before }, () => records.keyUpdate()),
    records.response(answer(200)),
    ...Array.from({ length: after }, () => records.keyUpdate()),
  ]

describe.each(adapters)('%s: TLS KeyUpdates', (_, create) => {
  const direct = async () => network
  it.each([
    ['directly', direct, {}],
    ['with a client certificate', direct, { tlsIdentity }],
    ['through a proxy', async () => through(network, await proxyServer()), {}],
    ['through a proxy over TLS', async () => through(network, await proxyServer({ tls: leaf })), {}],
  ])('an endpoint can send 64 on a connection, but not more: %s', async (_path, networkOf, own) => {
    const some = await keyUpdateServer(leaf, withKeyUpdates(64))
    const many = await keyUpdateServer(leaf, withKeyUpdates(65))
    const { post } = caller(create, { network: await networkOf() })
    expect(await post(some.url, {}, own)).toEqual(answered(200))
    const result = await post(many.url, {}, own)
    expect(result).toMatchObject({
      code: 'ERR_TLS_TOO_MANY_KEY_UPDATES',
      detail: 'the endpoint changed the TLS keys of one connection more than 64 times',
    })
    expect(classify(result)).toBe('tls_other')
  })

  it('too many close an idle connection', async () => {
    const target = await keyUpdateServer(leaf, withKeyUpdates(0, 65))
    expect(await caller(create, { network }).post(target.url)).toEqual(answered(200))
    await soon(target.closed)
  })
})
