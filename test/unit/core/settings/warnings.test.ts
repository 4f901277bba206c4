import { expect, it } from '@jest/globals'
import { notNeeded } from '../../../../src/core/settings/named-files-and-content-problems.ts'
import { draftFrom, settingsFrom } from '../../../../src/core/settings/validate.ts'
import { loggedWarningsOf, warningsOf } from '../../../../src/core/settings/warnings.ts'

const signingKey = (byte: number): string => `whsk_${Buffer.alloc(32, byte).toString('base64')}`
const crm = { id: 'crm', sources: ['web'], webhooks: [{ url: 'https://a.example' }] }
const base = {
  kafka: { brokers: ['a:9092'] },
  registry: { url: 'http://registry:8081' },
  sources: [{ id: 'web', writeKey: 'a-long-write-key' }],
  destinations: [crm],
}
const plain = [{ url: 'https://a.example' }, { url: 'HTTP://b.example' }, { id: 'c', url: 'http://c.example' }]
const unsigned =
  'destination crm: requests are unsigned and sent over http:// (webhook 1, c), so receivers cannot verify the sender; set sharedSecret'

const easyToGuess = 'has fewer than 16 characters and is easy to guess; use a longer random one'
const notSendable =
  'has a space or a character that HTTP headers cannot contain, so clients cannot send it; use only visible ASCII characters, for example the output of openssl rand -hex 32'
const deprecated =
  "collector.operatorKey: the operator API on the collector's listener is deprecated, and the next minor version removes it; use operator.keys and operator.listen"

it.each<[string, object, string[]]>([
  ['no warning', {}, []],
  ...['a-long-write:key', 'a-long-write\nkey', 'a-long-write-key-é'].map((writeKey): [string, object, string[]] => [
    'a write key that not every client can send',
    { sources: [{ id: 'web', writeKey }] },
    [
      'source web: a write key has characters that some clients cannot send; use printable ASCII characters without a colon and without a space at the beginning or end, for example the output of openssl rand -hex 32',
    ],
  ]),
  ...['a-long-operator key', 'a-long-operator\nkey', 'a-long-operator-key-é'].map((key): [string, object, string[]] => [
    'an operator key that cannot be sent in a header',
    {
      collector: { operatorKey: key },
      operator: { keys: [{ name: 'ada', role: 'read', key: ['a:long-operator-key', key] }] },
    },
    [deprecated, `operator key ada: a key ${notSendable}`, `collector.operatorKey: the key ${notSendable}`],
  ]),
  ['unsigned over http', { destinations: [{ ...crm, webhooks: plain }] }, [unsigned]],
  ['signed over http', { destinations: [{ ...crm, webhooks: plain, sharedSecret: 'a-long-shared-secret' }] }, []],
  [
    'signed with a private key over http',
    {
      destinations: [
        {
          ...{ ...crm, webhooks: plain, signingKey: signingKey(1) },
          policy: { standardWebhooks: true, signing: 'ed25519' },
        },
      ],
    },
    [],
  ],
  [
    'not enabled',
    { destinations: [{ ...crm, enabled: false, paused: true }] },
    [
      'source web: its messages are not delivered, because no enabled destination receives them; add the id of the source to "sources" of a destination',
      'destination crm: drops its events, because it is disabled; if the configuration disables it, set "enabled: true" to deliver new events; if Hookline has disabled it after failures, run `hookline destinations enable crm`',
    ],
  ],
  [
    'paused',
    { destinations: [{ ...crm, paused: true }] },
    [
      'destination crm: is paused, so its events wait; Hookline dead-letters them when their retry window ends; set "paused: false" to deliver them',
    ],
  ],
  [
    'paused, and the pause keeps the window',
    { destinations: [{ ...crm, paused: true, lifecycle: { pauseKeepsWindow: true } }] },
    [
      'destination crm: is paused, so its events wait; Hookline dead-letters them when their retry window ends (not counting the first 48h of the pause); set "paused: false" to deliver them',
    ],
  ],
  [
    'fewer permits than partitions',
    { destinations: [{ ...crm, policy: { maxConcurrency: 11 } }] },
    [
      'destination crm: policy.maxConcurrency (11) is less than topics.partitions (12), so some deliveries can wait in a retry topic for 10 s to several minutes; set policy.maxConcurrency to at least 12, or accept these waits',
    ],
  ],
  [
    'as many permits as partitions',
    { destinations: [{ ...crm, policy: { maxConcurrency: 12, ratePerSecond: 1 } }] },
    [],
  ],
  [
    'a secret with white space around it',
    { destinations: [{ ...crm, sharedSecret: ['a-long-shared-secret', ' a-long-shared-secret'] }] },
    [
      'destination crm: a shared secret begins or ends with white space, which is part of the secret; remove the white space unless it is intended',
    ],
  ],
  [
    'a webhook with traceHeaders, but no traces',
    { destinations: [{ ...crm, webhooks: [{ ...crm.webhooks[0], id: 'a', traceHeaders: true }] }] },
    [
      'destination crm: has traceHeaders (webhook a), but "traces" is not set, so Hookline sends no trace headers; set "traces", or remove traceHeaders',
    ],
  ],
  [
    'a webhook with traceHeaders and traces',
    { traces: {}, destinations: [{ ...crm, webhooks: [{ ...crm.webhooks[0], traceHeaders: true }] }] },
    [],
  ],
  [
    'secrets that are easy to guess',
    {
      sources: [{ id: 'web', writeKey: 'fifteen-letters' }],
      destinations: [{ ...crm, sharedSecret: ['a-long-shared-secret', 'short'] }],
      collector: { operatorKey: 'short' },
      operator: { keys: [{ name: 'ada', role: 'read', key: ['a-long-operator-key', 'short'] }] },
    },
    [
      deprecated,
      `source web: a write key ${easyToGuess}`,
      `destination crm: a shared secret ${easyToGuess}`,
      `operator key ada: a key ${easyToGuess}`,
      `collector.operatorKey: the key ${easyToGuess}`,
    ],
  ],
  [
    'secrets that are hard to guess',
    {
      collector: { operatorKey: 'a-long-operator-key' },
      operator: { keys: [{ name: 'ada', role: 'read', key: 'sixteen-letters!' }] },
    },
    [deprecated],
  ],
  [
    'every address allowed',
    { network: { allow: ['10.0.0.0/8', '0.0.0.0/0'] } },
    ['network.allow: 0.0.0.0/0 allows every private IPv4 address; list only the blocks that webhooks need'],
  ],
  [
    'a password in plain text',
    { kafka: { brokers: ['a:9092'], sasl: { mechanism: 'plain', username: 'u', password: 'p' } } },
    ['kafka: the login to the brokers is not encrypted, which can reveal the password; set kafka.tls'],
  ],
  [
    'a password of the registry in plain text',
    { registry: { url: 'http://registry:8081', username: 'u', password: 'p' } },
    ['registry: the password is sent over http://; use https://'],
  ],
  ['a registry password over https', { registry: { url: 'https://registry:8081', username: 'u', password: 'p' } }, []],
  [
    'credentials in a header over http',
    {
      destinations: [
        {
          ...crm,
          sharedSecret: 'a-long-shared-secret',
          webhooks: [
            { url: 'https://a.example', headers: { Authorization: 'Bearer x' } },
            { url: 'http://b.example', headers: { authorization: 'Bearer x' } },
            { id: 'c', url: 'http://c.example', headers: { 'X-Name': 'x' } },
          ],
        },
      ],
    },
    ['destination crm: the Authorization header is sent over http:// (webhook 1); use https://'],
  ],
  [
    'a client certificate that no request uses',
    { destinations: [{ ...crm, webhooks: plain, sharedSecret: 'a-long-shared-secret', tls: { caFile: 'ca.pem' } }] },
    ['destination crm: "tls" has no effect over http:// (webhook 1, c); use https://'],
  ],
  [
    'an access token and a client secret over http',
    {
      destinations: [
        {
          ...crm,
          sharedSecret: 'a-long-shared-secret',
          auth: { oauth2: { tokenUrl: 'http://login.example', clientId: 'a', clientSecret: 'b' } },
          webhooks: [{ url: 'http://a.example' }, { url: 'https://b.example' }],
        },
      ],
    },
    [
      'destination crm: the Authorization header is sent over http:// (webhook 0); use https://',
      'destination crm: the client secret is sent over http:// to auth.oauth2.tokenUrl; use https://',
    ],
  ],
  [
    'one signing key at two destinations',
    {
      destinations: [
        { ...crm, sharedSecret: 'a-long-shared-secret', signingKey: [signingKey(1), signingKey(2)] },
        { ...crm, id: 'erp', sharedSecret: 'another-shared-secret', signingKey: signingKey(2) },
        { ...crm, id: 'dwh', sharedSecret: 'a-third-shared-secret', signingKey: signingKey(3) },
      ],
    },
    [
      'destination erp: has the same signing key as destination crm, so each receiver accepts requests that the other receiver forwards; use different keys',
    ],
  ],
  [
    'one shared secret at two destinations',
    {
      destinations: [
        { ...crm, sharedSecret: ['a-secret-of-sixteen', 'b-secret-of-sixteen'] },
        { ...crm, id: 'erp', sharedSecret: 'c-secret-of-sixteen' },
        { ...crm, id: 'mail', sharedSecret: ['d-secret-of-sixteen', 'b-secret-of-sixteen'] },
      ],
    },
    [
      'destination mail: has the same shared secret as destination crm, so each receiver can forge requests to the other receiver; use different secrets',
    ],
  ],
  [
    'a Kafka password over TLS',
    { kafka: { brokers: ['a:9092'], tls: {}, sasl: { mechanism: 'plain', username: 'u', password: 'p' } } },
    [],
  ],
])('%s', (_, changes, warnings) => {
  const result = settingsFrom(draftFrom({ ...base, ...changes }), new Map([['ca.pem', notNeeded]]))
  expect(result.kind === 'accepted' ? warningsOf(result.settings) : result.problems).toEqual(warnings)
})

it.each([
  ['all of 100 warnings', 100, 100, 'source s99: a write key '],
  ['the first 100 of 10,001 warnings, and the number of the others', 10_001, 101, '9901 more warnings'],
])('logs %s', (_, count, lines, last) => {
  const sources = Array.from({ length: count }, (_, index) => ({ id: `s${index}`, writeKey: `key-${index}` }))
  const destinations = [{ ...crm, sources: sources.map(({ id }) => id) }]
  const result = settingsFrom(draftFrom({ ...base, sources, destinations }), new Map())
  const logged = result.kind === 'accepted' ? loggedWarningsOf(result.settings) : []
  expect(logged).toHaveLength(lines)
  expect(logged[99]).toBe(`source s99: a write key ${easyToGuess}`)
  expect(logged.at(-1)).toContain(last)
})
