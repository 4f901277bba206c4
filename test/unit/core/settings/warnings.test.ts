import { expect, it } from '@jest/globals'
import { draftFrom, settingsFrom } from '../../../../src/core/settings/draft.ts'
import { warningsOf } from '../../../../src/core/settings/warnings.ts'

const crm = { id: 'crm', sources: ['web'], webhooks: [{ url: 'https://a.example' }] }
const base = {
  kafka: { brokers: ['a:9092'] },
  registry: { url: 'http://registry:8081' },
  sources: [{ id: 'web', writeKey: 'k' }],
  destinations: [crm],
}
const plain = [{ url: 'https://a.example' }, { url: 'HTTP://b.example' }, { id: 'c', url: 'http://c.example' }]
const unsigned = 'destination crm: unsigned over http:// (webhook 1, c), receivers cannot tell who calls'

it.each<[string, object, string[]]>([
  ['nothing to say', {}, []],
  ['unsigned over http', { destinations: [{ ...crm, webhooks: plain }] }, [unsigned]],
  ['signed over http', { destinations: [{ ...crm, webhooks: plain, sharedSecret: 's' }] }, []],
  [
    'not enabled',
    { destinations: [{ ...crm, enabled: false, paused: true }] },
    ['source web: no enabled destination gets its messages', 'destination crm: is not enabled, its events are dropped'],
  ],
  [
    'paused',
    { destinations: [{ ...crm, paused: true }] },
    ['destination crm: is paused, its events wait until their retry window is over'],
  ],
  [
    'a secret with white space around it',
    { destinations: [{ ...crm, sharedSecret: ['a', ' b'] }] },
    ['destination crm: a shared secret begins or ends with white space'],
  ],
  [
    'a webhook that asks for traces, without any',
    { destinations: [{ ...crm, webhooks: [{ ...crm.webhooks[0], id: 'a', traceHeaders: true }] }] },
    ['destination crm: has traceHeaders (webhook a), but there are no traces'],
  ],
  [
    'the same with traces',
    { traces: {}, destinations: [{ ...crm, webhooks: [{ ...crm.webhooks[0], traceHeaders: true }] }] },
    [],
  ],
  [
    'everything allowed',
    { network: { allow: ['10.0.0.0/8', '0.0.0.0/0'] } },
    ['network: 0.0.0.0/0 allows every private address'],
  ],
  [
    'a password in plain text',
    { kafka: { brokers: ['a:9092'], sasl: { mechanism: 'plain', username: 'u', password: 'p' } } },
    ['kafka: the password goes to the brokers without TLS'],
  ],
  [
    'the same over TLS',
    { kafka: { brokers: ['a:9092'], tls: {}, sasl: { mechanism: 'plain', username: 'u', password: 'p' } } },
    [],
  ],
])('%s', (_, changes, warnings) => {
  const result = settingsFrom(draftFrom({ ...base, ...changes }), new Map())
  expect(result.kind === 'accepted' ? warningsOf(result.settings) : result.problems).toEqual(warnings)
})
