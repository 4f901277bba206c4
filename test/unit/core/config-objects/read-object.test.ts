import { describe, expect, it } from '@jest/globals'
import { encodeValue } from '../../../../src/core/config-objects/object-record.ts'
import { type ReadObject, readObject } from '../../../../src/core/config-objects/read-object.ts'
import type { Destination, Source } from '../../../../src/core/settings/settings.ts'
import { formatPath } from '../../../../src/core/settings/settings-problem.ts'
import {
  destinationDocument,
  firstKey,
  named,
  sealedValue,
  secondKey,
  sourceDocument,
} from '../../../support/config-objects/example-objects.ts'

const crm = named('destination', 'crm')
const app = named('source', 'app')
const reading = { keys: [firstKey], context: {} }
const problemsOf = ({ problems }: ReadObject) => problems.map(({ path, message }) => `${formatPath(path)}: ${message}`)

describe('a readable object', () => {
  it('becomes a destination, whose credentials never appear in JSON', () => {
    const read = readObject(crm, sealedValue(crm, destinationDocument({ paused: true })), reading)
    expect([read.problems, read.parsed.kind]).toEqual([[], 'destination'])
    const { destination } = read.parsed as { destination: Destination }
    expect(destination).toMatchObject({ id: 'crm', paused: true, enabled: true, sources: ['web'] })
    expect(destination.secrets.map(secret => secret.reveal())).toEqual(['shared-secret-of-the-crm'])
    expect(JSON.stringify(destination)).not.toMatch(/of-the-crm/)
  })

  it('becomes a source', () => {
    const read = readObject(app, sealedValue(app, sourceDocument()), reading)
    const { source } = read.parsed as { source: Source }
    expect([source.id, source.writeKeys.map(key => key.reveal())]).toEqual(['app', ['write-key-of-the-app']])
  })

  it('may have a policy that exceeds `delivery`, which changed after the object was written', () => {
    const context = { delivery: { timeout: '2s', window: '1m', schedule: ['10s'] } }
    const policy = { timeout: '3s', window: '2m', schedule: ['5s', '3m'] }
    const read = readObject(crm, sealedValue(crm, destinationDocument({ policy })), { ...reading, context })
    expect(read.problems).toEqual([])
    const wrong = destinationDocument({ policy, pausd: true })
    const { problems } = readObject(crm, sealedValue(crm, wrong), { ...reading, context })
    expect(problems).toMatchObject([{ path: ['pausd'] }])
  })

  it('may be sealed with the second key', () => {
    const value = sealedValue(app, sourceDocument(), secondKey)
    const read = readObject(app, value, { ...reading, keys: [firstKey, secondKey] })
    expect([read.problems, read.hasOldSeal]).toEqual([[], true])
    expect(readObject(app, value, { ...reading, keys: [secondKey, firstKey] }).hasOldSeal).toBe(false)
  })
})

describe('an object that cannot be used', () => {
  it.each<[string, string, string]>([
    [
      'a missing key',
      sealedValue(crm, destinationDocument({ webhooks: [{ url: 'https://a.example.com/' }] }), secondKey),
      `sharedSecret: is encrypted with a key that is not in operator.encryptionKeyFile of this process (id of the key: ${secondKey.id})`,
    ],
    [
      'a seal of another object',
      sealedValue(named('destination', 'erp'), {
        id: 'crm',
        sources: ['web'],
        webhooks: [{ url: 'https://a.example.com/' }],
      }),
      'webhooks[0].url: cannot be decrypted: the value is damaged, or was encrypted for another field or object',
    ],
    [
      'a plain secret',
      encodeValue({ id: 'crm', sources: ['web'], sharedSecret: 'plain', webhooks: [] }),
      'sharedSecret: cannot be decrypted: the value is damaged, or was encrypted for another field or object',
    ],
    ['an unknown key of the document', sealedValue(crm, destinationDocument({ pausd: true })), 'pausd: unknown key'],
    [
      'an unknown format',
      '{"format":2,"document":{}}',
      ': has a value of format 2 in the config topic, but this version of Hookline reads only format 1',
    ],
    ['no JSON', 'x', ': has a damaged value in the config topic: the value is not JSON'],
  ])('%s', (_, value, problem) => {
    const read = readObject(crm, value, reading)
    expect(problemsOf(read)).toContain(problem)
    expect(read.parsed).toMatchObject({
      kind: 'destination',
      destination: { id: 'crm', paused: true, webhooks: [], isPlaceholder: true },
    })
  })

  it.each<[string, string, RegExp]>([
    ['an unknown format', '{"format":2,"document":{}}', /^update all processes/],
    ['no JSON', 'x', /^write the whole object again/],
    ['no JSON object', '[]', /^write the whole object again/],
    ['no format', '{}', /^write the whole object again/],
    ['no document', '{"format":1}', /^write the whole object again/],
  ])('has a hint for %s', (_, value, hint) => {
    expect(readObject(crm, value, reading).problems).toMatchObject([{ path: [], hint: expect.stringMatching(hint) }])
  })

  it('keeps the sources of a destination whose secrets are unreadable, so that its messages wait', () => {
    const read = readObject(crm, sealedValue(crm, destinationDocument(), secondKey), reading)
    expect(read.parsed).toMatchObject({ destination: { sources: ['web'], enabled: true } })
    expect(JSON.stringify(read.document)).not.toMatch(/of-the-crm|sealed/)
    const disabled = readObject(crm, sealedValue(crm, destinationDocument({ enabled: false }), secondKey), reading)
    expect(disabled.parsed).toMatchObject({ destination: { enabled: false } })
  })

  it('keeps the id of a source without write keys, so that its stored events are delivered', () => {
    const read = readObject(app, sealedValue(app, sourceDocument(), secondKey), reading)
    expect(read.parsed).toEqual({ kind: 'source', source: { id: 'app', writeKeys: [] } })
  })
})
