import { describe, expect, it } from '@jest/globals'
import type { ObjectDocument, ObjectKind } from '../../../../src/core/config-objects/config-objects.ts'
import { validateObject } from '../../../../src/core/config-objects/validate-object.ts'
import { formatPath } from '../../../../src/core/settings/settings-problem.ts'
import { destinationDocument, sourceDocument } from '../../../support/config-objects/example-objects.ts'
import { createAuthority } from '../../../support/network/certificates.ts'

function problemsOf(kind: ObjectKind, document: ObjectDocument, context = {}): readonly string[] {
  const result = validateObject(kind, 'crm', document, context)
  if (result.kind === 'valid') return []
  return result.problems.map(({ path, message, hint }) => `${formatPath(path)}: ${message} (${hint ?? ''})`)
}

const authority = createAuthority()
const client = authority.issue()

const rows: readonly [name: string, kind: ObjectKind, document: ObjectDocument, problems: readonly string[]][] = [
  ['a valid destination', 'destination', destinationDocument(), []],
  ['a valid source', 'source', sourceDocument({ writeKey: ['one', 'two', 'three'] }), []],
  ['the same id in the document', 'destination', destinationDocument({ id: 'crm' }), []],
  [
    'another id in the document',
    'destination',
    destinationDocument({ id: 'erp' }),
    [
      'id: differs from the id in the URL of the request (remove the key "id"; the id of a destination or source cannot change)',
    ],
  ],
  [
    'all problems together',
    'destination',
    { enabled: 'yes', sources: [], webhooks: [{ url: 'ftp://x', traceHeaders: true, headers: { Host: 'a' } }] },
    [
      'enabled: must be true or false, not text (`false`: the destination is disabled, and Hookline drops its events)',
      'sources: must have at least one entry (ids of the sources whose messages the destination receives)',
      'webhooks[0].url: must begin with http:// or https:// (URL that begins with http:// or https:// and contains no credentials)',
      'webhooks[0].headers.***: header "Host" is reserved for Hookline and its HTTP client (leave this header out)',
    ],
  ],
  ['a missing write key', 'source', {}, ['writeKey: is missing (set "writeKey")']],
  [
    'files',
    'destination',
    { sources: ['web'], sharedSecretFile: 'a', webhooks: [{ urlFile: 'b', headers: { A: { file: 'c' } } }] },
    ['sharedSecretFile', 'webhooks[0].urlFile', 'webhooks[0].headers.***.file'].map(
      path =>
        `${path}: names a file; only objects in the configuration file can name files (write the value here, not the name of a file; Hookline stores the value encrypted)`,
    ),
  ],
  [
    'unknown keys, without advice to name a file',
    'destination',
    destinationDocument({ colour: 1, webhooks: [{ url: 'https://crm.example.com/', colour: 1 }] }),
    [
      'webhooks[0].***: unknown key (possible: id, url, headers, traceHeaders)',
      '***: unknown key (possible: id, enabled, paused, sources, sharedSecret, secretRotatesAt, signingKey, auth, policy, lifecycle, filter, tls, webhooks)',
    ],
  ],
  [
    'a source twice',
    'destination',
    destinationDocument({ sources: ['web', 'web'] }),
    ['sources[1]: is listed twice ()'],
  ],
  [
    'a client certificate without its key',
    'destination',
    destinationDocument({ tls: { clientCert: client.cert } }),
    [
      'tls.clientKey: is missing, but clientCert is set (set both: clientCert with a certificate and clientKey with its private key)',
    ],
  ],
  [
    'a key of another certificate',
    'destination',
    destinationDocument({ tls: { clientCert: client.cert, clientKey: createAuthority().issue().key } }),
    [
      'tls.clientKey: is not the key of the certificate in clientCert (use a certificate and a private key that belong together)',
    ],
  ],
  [
    'an address that the configuration does not allow',
    'destination',
    destinationDocument({ webhooks: [{ url: 'http://10.1.2.3/' }] }),
    [expect.stringContaining('webhooks[0].url: ') as unknown as string],
  ],
]

describe('validateObject', () => {
  it('accepts all keys of a destination with secrets, which become parts of its settings', () => {
    const tls = { clientCert: client.cert, clientKey: client.key, ca: authority.cert }
    const document = destinationDocument({
      signingKey: `whsk_${Buffer.alloc(32, 1).toString('base64')}`,
      policy: { signing: 'ed25519', standardWebhooks: true, timeout: '2s' },
      lifecycle: { pauseKeepsWindow: true },
      filter: { types: ['track'] },
      auth: { oauth2: { tokenUrl: 'https://login.example.com/token', clientId: 'crm', clientSecret: 'client-secret' } },
      webhooks: [{ url: 'https://hooks.example.com/' }],
      tls,
    })
    expect(problemsOf('destination', document)).toEqual([])
    const result = validateObject('destination', 'crm', document, {})
    const object = result.kind === 'valid' ? result.object : undefined
    const destination = object?.kind === 'destination' ? object.destination : undefined
    expect(destination).toMatchObject({
      tlsIdentity: { cert: tls.clientCert, ca: tls.ca },
      auth: { oauth2: { clientId: 'crm' } },
      policy: { signing: 'ed25519', timeout: 2_000 },
    })
    expect(destination?.tlsIdentity?.key?.reveal()).toBe(client.key)
  })

  it.each(rows)('%s', (_, kind, document, problems) => {
    expect(problemsOf(kind, document)).toEqual(problems)
  })

  it('gives at most 100 problems, because a search for names similar to each of many keys takes long', () => {
    const headers = Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`h${index}`, { file: 'name' }]))
    expect(
      problemsOf('destination', destinationDocument({ webhooks: [{ url: 'https://a.b', headers }] })),
    ).toHaveLength(100)
    const unknown = Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`key${index}`, index]))
    expect(problemsOf('destination', destinationDocument(unknown))).toHaveLength(100)
  })

  it('refuses http:// when the file has network.httpsOnly', () => {
    const auth = { oauth2: { tokenUrl: 'http://login.example.com/', clientId: 'crm', clientSecret: 'client-secret' } }
    const document = destinationDocument({ auth, webhooks: [{ url: 'http://hooks.example.com/' }] })
    const refusal =
      'begins with http://, which "network.httpsOnly: true" does not allow (use an https:// URL, or set network.httpsOnly to false)'
    expect(problemsOf('destination', document)).toEqual([])
    expect(problemsOf('destination', document, { network: { httpsOnly: true } })).toEqual([
      `webhooks[0].url: ${refusal}`,
      `auth.oauth2.tokenUrl: ${refusal}`,
    ])
  })

  it('checks against the network settings of the file', () => {
    const document = destinationDocument({ webhooks: [{ url: 'http://10.1.2.3/' }] })
    expect(problemsOf('destination', document, { network: { allow: ['10.0.0.0/8'], caFile: 'ca.pem' } })).toEqual([])
  })
})
