import { describe, expect, it } from '@jest/globals'
import type { ObjectDocument } from '../../../../src/core/config-objects/config-objects.ts'
import { fingerprintOf, maskDocument, unmask } from '../../../../src/core/config-objects/mask.ts'
import { destinationDocument } from '../../../support/config-objects/objects.ts'

describe('maskDocument', () => {
  it('masks every secret, and shows a fingerprint of the long ones', () => {
    const document = destinationDocument({
      sharedSecret: ['shared-secret-of-the-crm', 'short'],
      webhooks: [
        { url: 'https://hooks.example.com/t0ken?key=1', headers: { Authorization: 'Bearer of-the-crm-1' } },
        { url: 'https://plain.example.com/' },
      ],
    })
    expect(maskDocument('destination', document)).toEqual({
      document: {
        sources: ['web'],
        sharedSecret: ['***', '***'],
        webhooks: [
          { url: 'https://hooks.example.com/***', headers: { Authorization: '***' } },
          { url: 'https://plain.example.com/' },
        ],
      },
      fingerprints: {
        'sharedSecret[0]': fingerprintOf('shared-secret-of-the-crm'),
        'webhooks[0].url': fingerprintOf('https://hooks.example.com/t0ken?key=1'),
        'webhooks[0].headers.Authorization': fingerprintOf('Bearer of-the-crm-1'),
      },
    })
  })

  it('shows the names of files, and masks values of a wrong type', () => {
    const headers = { A: { file: 'secrets/a' }, B: 7 }
    const { document } = maskDocument('destination', { webhooks: [{ urlFile: 'secrets/url', headers }] })
    expect(document).toEqual({
      webhooks: [{ urlFile: 'secrets/url', headers: { A: { file: 'secrets/a' }, B: '***' } }],
    })
  })

  it('gives the fingerprint that sha256sum prints', () => {
    // The fingerprint is the beginning of: printf %s write-key-of-the-app | sha256sum
    expect(fingerprintOf('write-key-of-the-app')).toBe('c2e6ca10')
    expect(fingerprintOf('15 characters..')).toBeUndefined()
  })
})

const token = 'Bearer token-of-the-crm'
const url = 'https://hooks.example.com/path-of-the-crm'
const current = destinationDocument()
const rows: readonly [name: string, next: ObjectDocument, before: ObjectDocument, expected: object | 'refused'][] = [
  ['an untouched document', maskDocument('destination', current).document, current, current],
  ['a list of one for a single secret', { sharedSecret: ['***'] }, { sharedSecret: 'a' }, { sharedSecret: ['a'] }],
  ['a single secret for a list', { sharedSecret: '***' }, { sharedSecret: ['a', 'b'] }, { sharedSecret: 'a' }],
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
    'refused',
  ],
  ['a masked URL of another host', { webhooks: [{ url: 'https://other.example.com/***' }] }, current, 'refused'],
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
    'refused',
  ],
  ['a mask in a new object', { sharedSecret: '***' }, {}, 'refused'],
]

describe('unmask', () => {
  it.each(rows)('%s', (_, next, before, expected) => {
    const { document, problems } = unmask('destination', next, before)
    if (expected !== 'refused') {
      expect([document, problems]).toEqual([expected, []])
      return
    }
    expect(problems).toEqual([
      {
        path: expect.any(Array),
        message: 'is masked (***), but the stored object has no secret in this field',
        hint: 'write the secret instead of ***',
      },
    ])
    expect(JSON.stringify(document)).toContain('***')
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
