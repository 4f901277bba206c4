import { describe, expect, it } from '@jest/globals'
import type { ObjectDocument } from '../../../../src/core/config-objects/config-objects.ts'
import { fingerprintOf, maskDocument } from '../../../../src/core/config-objects/mask.ts'
import { unmask } from '../../../../src/core/config-objects/unmask.ts'
import { destinationDocument } from '../../../support/config-objects/example-objects.ts'

const token = 'Bearer token-of-the-crm'
const url = 'https://hooks.example.com/path-of-the-crm'
const current = destinationDocument()
const rows: readonly [
  name: string,
  next: ObjectDocument,
  before: ObjectDocument,
  expected: object | 'refused' | 'new host',
][] = [
  ['an untouched document', maskDocument('destination', current).document, current, current],
  ['a list of one for a single secret', { sharedSecret: ['***'] }, { sharedSecret: 'a' }, { sharedSecret: ['a'] }],
  ['a single secret for a list of one', { sharedSecret: '***' }, { sharedSecret: ['a'] }, { sharedSecret: 'a' }],
  ['the second secret', { sharedSecret: ['n', '***'] }, { sharedSecret: ['a', 'b'] }, { sharedSecret: ['n', 'b'] }],
  ['a second secret that there is not', { sharedSecret: ['n', '***'] }, { sharedSecret: 'a' }, 'refused'],
  [
    'another path on the same host',
    { webhooks: [{ url: 'https://hooks.example.com/new', headers: { Authorization: '***' } }] },
    current,
    { webhooks: [{ url: 'https://hooks.example.com/new', headers: { Authorization: token } }] },
  ],
  [
    'another host',
    { webhooks: [{ url: 'https://other.example.com/', headers: { Authorization: '***' } }] },
    current,
    'new host',
  ],
  ['a masked URL of another host', { webhooks: [{ url: 'https://other.example.com/***' }] }, current, 'new host'],
  [
    'a webhook that moved, with its id',
    {
      webhooks: [
        { id: 'new', url: 'https://n.example.com/' },
        { id: 'old', url: 'https://hooks.example.com/***', headers: { Authorization: '***' } },
      ],
    },
    { webhooks: [{ id: 'old', url, headers: { Authorization: token } }] },
    {
      webhooks: [
        { id: 'new', url: 'https://n.example.com/' },
        { id: 'old', url, headers: { Authorization: token } },
      ],
    },
  ],
  [
    'a webhook with the id of another one',
    { webhooks: [{ id: 'a', url: 'https://b.example.com/', headers: { K: '***' } }] },
    { webhooks: [{ id: 'a', url: 'https://a.example.com/', headers: { K: 'of a' } }] },
    'new host',
  ],
  [
    'a masked URL of another host with a fingerprint',
    { webhooks: [{ url: `https://other.example.com/*** (${fingerprintOf(url)})` }] },
    current,
    'new host',
  ],
  ['a mask in a new object', { sharedSecret: '***' }, {}, 'refused'],
]

describe('unmask', () => {
  it.each(rows)('%s', (_, next, before, expected) => {
    const { document, problems } = unmask('destination', next, before)
    if (typeof expected === 'object') {
      expect([document, problems]).toEqual([expected, []])
      return
    }
    expect(problems).toEqual([
      {
        path: expect.any(Array),
        message:
          expected === 'refused'
            ? 'is masked (***), but the stored object has no secret in this field'
            : 'is masked (***), but the URL of this webhook has a new host: Hookline does not use stored secrets with a new host',
        hint: 'write the secret instead of the mask ***',
      },
    ])
    expect(JSON.stringify(document)).toContain('***')
  })
})

const [old, newer] = ['the old secret of the crm', 'the new secret of the crm']
const masked = (secret: string, shown = '***'): string => `${shown} (${fingerprintOf(secret)})`
const host = 'https://hooks.example.com'
const shownUrl = `${host}/***`
const [first, second] = [`${host}/path-one`, `${host}/path-two`]
const webhookOf = (address: string, authorization: string): ObjectDocument => ({
  url: address,
  headers: { Authorization: authorization },
})
const twoWebhooks = { webhooks: [webhookOf(first, 'Bearer token one'), webhookOf(second, 'Bearer token two')] }

describe('a list that becomes shorter', () => {
  const both = { sharedSecret: [old, newer] }
  const bothOnHosts = { webhooks: [webhookOf('https://a.example/one', old), webhookOf('https://b.example/two', newer)] }

  it.each<[name: string, next: ObjectDocument, before: ObjectDocument, expected: ObjectDocument]>([
    ['keeps a secret by its fingerprint', { sharedSecret: [masked(newer)] }, both, { sharedSecret: [newer] }],
    ['and becomes a single secret', { sharedSecret: masked(newer) }, both, { sharedSecret: newer }],
    ['of which all entries are equal', { sharedSecret: '***' }, { sharedSecret: [old, old] }, { sharedSecret: old }],
    [
      'keeps a webhook by the fingerprint of its URL',
      { webhooks: [webhookOf(masked(second, shownUrl), '***')] },
      twoWebhooks,
      { webhooks: [webhookOf(second, 'Bearer token two')] },
    ],
    [
      'keeps a header by its fingerprint when the URL of its webhook changes',
      { webhooks: [webhookOf(`${host}/new`, masked('Bearer token two'))] },
      twoWebhooks,
      { webhooks: [webhookOf(`${host}/new`, 'Bearer token two')] },
    ],
    [
      'keeps the only webhook of a host',
      { webhooks: [webhookOf('https://b.example/***', '***')] },
      bothOnHosts,
      { webhooks: [webhookOf('https://b.example/two', newer)] },
    ],
    [
      'keeps a webhook by its id',
      { webhooks: [{ id: 'b', ...webhookOf(shownUrl, '***') }] },
      { webhooks: twoWebhooks.webhooks.map((webhook, index) => ({ id: 'ab'[index], ...webhook })) },
      { webhooks: [{ id: 'b', ...webhookOf(second, 'Bearer token two') }] },
    ],
  ])('%s', (_, next, before, expected) =>
    expect(unmask('destination', next, before)).toEqual({ document: expected, problems: [] }),
  )

  const shorter =
    'is masked (***), but this list has fewer entries than the stored list, so Hookline does not know which stored secret to keep here'

  it.each<[name: string, next: unknown, paths: readonly (string | number)[][]]>([
    ['text', '***', [['writeKey']]],
    ['a list', ['***'], [['writeKey', 0]]],
    [
      'two of three',
      ['***', '***'],
      [
        ['writeKey', 0],
        ['writeKey', 1],
      ],
    ],
    ['one that stays and a new one', ['***', 'another key'], [['writeKey', 0]]],
  ])('without fingerprints is refused: %s', (_, writeKey, paths) => {
    const third = 'short key'
    const { document, problems } = unmask('source', { writeKey }, { writeKey: [old, newer, third] })
    const hint = `write the new secret; to keep a stored secret, write its mask: ${masked(old)}, ${masked(newer)}`
    expect(problems).toEqual(paths.map(path => ({ path, message: shorter, hint })))
    expect(document).toEqual({ writeKey })
  })

  it('of short secrets is refused', () => {
    const { problems } = unmask('source', { writeKey: '***' }, { writeKey: ['a', 'b'] })
    expect(problems).toEqual([
      { path: ['writeKey'], message: shorter, hint: 'write the secret instead of the mask ***' },
    ])
  })

  it('of webhooks with one host is refused without ids and fingerprints', () => {
    const { problems } = unmask('destination', { webhooks: [webhookOf(shownUrl, '***')] }, twoWebhooks)
    const hint = (...masks: readonly string[]): string =>
      `write the new secret; to keep a stored secret, write its mask: ${masks.join(', ')}`
    expect(problems).toEqual([
      { path: ['webhooks', 0, 'url'], message: shorter, hint: hint(masked(first, shownUrl), masked(second, shownUrl)) },
      {
        path: ['webhooks', 0, 'headers', 'Authorization'],
        message: shorter,
        hint: hint(masked('Bearer token one'), masked('Bearer token two')),
      },
    ])
  })
})

describe('a mask with a fingerprint', () => {
  it.each<[name: string, next: ObjectDocument, before: ObjectDocument, expected: ObjectDocument]>([
    [
      'can stand at another position',
      { sharedSecret: [newer, masked(old)] },
      { sharedSecret: old },
      { sharedSecret: [newer, old] },
    ],
    ['can stand for a single secret', { sharedSecret: masked(old) }, { sharedSecret: old }, { sharedSecret: old }],
    [
      'can give a webhook its first id',
      { webhooks: [{ id: 'a', ...webhookOf(masked(second, shownUrl), '***') }, webhookOf(first, '***')] },
      twoWebhooks,
      {
        webhooks: [{ id: 'a', ...webhookOf(second, 'Bearer token two') }, webhookOf(first, 'Bearer token one')],
      },
    ],
  ])('%s', (_, next, before, expected) =>
    expect(unmask('destination', next, before)).toEqual({ document: expected, problems: [] }),
  )

  it.each<[name: string, next: ObjectDocument, before: ObjectDocument]>([
    ['of another secret', { sharedSecret: masked(newer) }, { sharedSecret: old }],
    ['that is cut', { sharedSecret: masked(old).replace(/..\)$/, ')') }, { sharedSecret: old }],
    ['that is not a fingerprint', { sharedSecret: '*** (no fingerprint)' }, { sharedSecret: 'short' }],
    ['of another URL', { webhooks: [{ url: masked(`${host}/path-three`, shownUrl) }] }, twoWebhooks],
  ])('%s is refused', (_, next, before) => {
    expect(unmask('destination', next, before)).toEqual({
      document: next,
      problems: [
        {
          path: expect.any(Array),
          message: 'is masked (***), but the fingerprint after *** matches no stored secret of this field',
          hint: 'to keep the stored secret, copy the mask (*** and the fingerprint) unchanged; to change the secret, write the new one instead of the mask',
        },
      ],
    })
  })
})

describe('a new id', () => {
  const next = { webhooks: [{ id: 'new', url: shownUrl }] }

  it('can be given to a webhook without one', () => {
    const { document, problems } = unmask('destination', next, { webhooks: [{ url: first }] })
    expect([document, problems]).toEqual([{ webhooks: [{ id: 'new', url: first }] }, []])
  })

  it('does not get the secrets of a webhook with another id', () => {
    expect(unmask('destination', next, { webhooks: [{ id: 'old', url: first }] }).problems).toHaveLength(1)
  })
})

describe('the client secret of OAuth 2.0', () => {
  const withTokens = (tokenUrl: string, clientSecret: string, ...urls: readonly string[]): ObjectDocument => ({
    auth: { oauth2: { tokenUrl, clientId: 'hookline', clientSecret } },
    webhooks: urls.map(each => ({ url: each })),
  })
  const before = withTokens('https://login.example.com/token', 'client-secret', url)

  it.each<[string, ObjectDocument, 'kept' | 'refused']>([
    ['an untouched document', maskDocument('destination', before).document, 'kept'],
    ['other paths', withTokens('https://login.example.com/v2', '***', 'https://hooks.example.com/new'), 'kept'],
    ['another host of the token URL', withTokens('https://other.example.com/token', '***', url), 'refused'],
    ['another scheme of the token URL', withTokens('http://login.example.com/token', '***', url), 'refused'],
    ['a webhook of another host', withTokens('https://login.example.com/token', '***', url, 'https://b.c'), 'refused'],
  ])('%s', (_, next, expected) => {
    const { document, problems } = unmask('destination', next, before)
    expect(problems).toMatchObject(
      expected === 'kept' ? [] : [{ path: ['auth', 'oauth2', 'clientSecret'], message: expect.stringMatching(/host/) }],
    )
    expect(JSON.stringify(document).includes('client-secret')).toBe(expected === 'kept')
  })
})

describe('a list with many more entries than the schema permits', () => {
  const count = 500
  let reads = 0
  /** Returns a list that counts the reads of its entries. */
  const many = <T>(value: T): readonly T[] =>
    new Proxy(
      Array.from({ length: count }, () => value),
      {
        get(list, key) {
          reads++
          return Reflect.get(list, key)
        },
      },
    )
  const mask = `*** (${fingerprintOf(token)})`
  const headers = { Authorization: token }
  const oauth2 = { tokenUrl: 'https://login.example.com/', clientId: 'hookline', clientSecret: token }

  it.each<[string, ObjectDocument, ObjectDocument]>([
    ['masks without a stored object', { sharedSecret: many('***') }, {}],
    ['masks of one secret', { sharedSecret: many(mask) }, { sharedSecret: token }],
    [
      'masks of a client secret, and webhooks',
      { auth: { oauth2: { ...oauth2, clientSecret: many(mask) } }, webhooks: many({ url }) },
      { auth: { oauth2 }, webhooks: [{ url }] },
    ],
    [
      'webhooks with masks',
      { webhooks: many({ url, headers: { Authorization: '***' } }) },
      { webhooks: [{ url, headers }] },
    ],
  ])('is read only a few times: %s', (_, next, before) => {
    reads = 0
    unmask('destination', next, before)
    expect(reads).toBeLessThan(50 * count)
  })
})
