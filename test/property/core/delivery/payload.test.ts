import { createHmac } from 'node:crypto'
import { expect, it } from '@jest/globals'
import fc from 'fast-check'
import { signerOf } from '../../../../src/core/delivery/build-and-sign-requests.ts'
import { bodyOf } from '../../../../src/core/delivery/payload.ts'
import { callTypes, type Message } from '../../../../src/core/message/message.ts'
import { normalise } from '../../../../src/core/message/normalise.ts'
import { parseMessageText } from '../../../../src/core/message/parse-message-json.ts'
import { Secret } from '../../../../src/core/secret.ts'
import type { PayloadSettings } from '../../../../src/core/settings/settings.ts'
import { start } from '../../../support/builders.ts'

/** Texts, some with lone surrogates, control characters or line separators. */
const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 8 }),
  fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 4 }).map(units => String.fromCharCode(...units)),
  fc.constantFrom('', '\u2028', '"name":', '\\"', '</script>', '\ud83d', '\0'),
)
const key = fc.oneof(
  fc.constantFrom(
    ...['name', 'category', '__proto__', 'constructor', 'toJSON', 'length', '10', '2', '01', '4294967295', ''],
  ),
  text,
)
const number = fc.oneof(
  fc.constantFrom('1.0', '-0', '1E5', '1e21', '0.0000001', '12345678901234567890', '5e-324', '-1.50', '100e-2'),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(value => JSON.stringify(value)),
)
/**
 * JSON texts as other programs write them: all forms of numbers and escapes, white space, and
 * duplicate keys.
 */
const { json, object } = fc.letrec<{ json: string; object: string }>(tie => ({
  json: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.constantFrom('null', 'true', 'false'),
    number,
    text.map(value => JSON.stringify(value)),
    fc.array(tie('json'), { maxLength: 3 }).map(items => `[${items.join(' , ')}]`),
    tie('object'),
  ),
  object: fc
    .array(fc.tuple(key, tie('json')), { maxLength: 4 })
    .map(members => `{ ${members.map(([name, value]) => `${JSON.stringify(name)} : ${value}`).join(',\n')} }`),
}))
const id = fc.oneof(
  text.map(value => JSON.stringify(value)),
  fc.constantFrom('"u1"', '"u2"', '17', '12345678901234567890', 'null'),
)
const aTime = fc.date({ min: new Date('0001-01-02'), max: new Date('9999-12-30'), noInvalidDate: true })
const members = {
  userId: id,
  anonymousId: id,
  groupId: id,
  previousId: id,
  event: text.map(value => JSON.stringify(value)),
  name: fc.oneof(
    text.map(value => JSON.stringify(value)),
    fc.constant('null'),
  ),
  category: text.map(value => JSON.stringify(value)),
  timestamp: aTime.map(date => JSON.stringify(date)),
  properties: fc.oneof({ weight: 5, arbitrary: object }, { weight: 1, arbitrary: json }),
  traits: fc.oneof({ weight: 5, arbitrary: object }, { weight: 1, arbitrary: json }),
  context: object,
  integrations: object,
}
const sent = fc
  .tuple(
    fc.constantFrom(...callTypes),
    fc.record(members, { requiredKeys: [] }),
    fc.shuffledSubarray(Object.keys(members)),
  )
  .map(([type, given, order]) => {
    const all: Record<string, string | undefined> = { ...required[type], ...given }
    const names = new Set([...order, ...Object.keys(all)])
    return `{"type":"${type}",${[...names].flatMap(name => (all[name] ? [`"${name}":${all[name]}`] : [])).join(',')}}`
  })
const required: Record<Message['type'], Record<string, string>> = {
  page: { userId: '"u1"' },
  screen: { userId: '"u1"' },
  identify: { userId: '"u1"' },
  track: { userId: '"u1"', event: '"e"' },
  alias: { userId: '"u1"', previousId: '"p"' },
  group: { userId: '"u1"', groupId: '"g"' },
  delete: { userId: '"u1"' },
}

/** Parses and normalises a message; undefined if it is rejected. */
function messageFrom(sentText: string): Message | undefined {
  const parsed = parseMessageText(sentText)
  if (parsed.kind === 'rejected') throw new TypeError(parsed.message)
  const normalised = normalise(parsed.value, { receivedAt: start, sentAt: undefined, newId: () => 'id-1' })
  return normalised.kind === 'rejected' ? undefined : normalised.message
}

/** Computes the body from an object that has the members in the right order. */
function oracle(message: Message, { anonymousId }: Pick<PayloadSettings, 'anonymousId'>): string {
  const { type, name, category } = message
  const parsed = (fragment: string | undefined) => (fragment === undefined ? undefined : JSON.parse(fragment))
  const folded = (additions: Record<string, string | undefined>) => {
    const properties = new Map<string, unknown>(Object.entries(parsed(message.properties ?? '{}')))
    for (const [added, value] of Object.entries(additions)) {
      if (value === undefined || (properties.get(added) ?? null) !== null) continue
      properties.delete(added)
      properties.set(added, value)
    }
    return Object.fromEntries(properties)
  }
  const user = (userKey: string) => ({
    [userKey]: message.userId,
    anonymousId: message.userId === undefined || anonymousId === 'always' ? message.anonymousId : undefined,
  })
  const middle: Record<Message['type'], () => object> = {
    page: () => ({ ...user('userId'), properties: folded({ name, category }) }),
    screen: () => ({
      ...user('userId'),
      name,
      properties: message.properties || category !== undefined ? folded({ category }) : undefined,
    }),
    identify: () => ({ ...user('userId'), traits: parsed(message.traits ?? '{}') }),
    track: () => ({ ...user('userId'), event: message.event, properties: folded({}) }),
    alias: () => ({ 'Previous ID': message.previousId, ...user('User ID') }),
    group: () => ({ groupId: message.groupId, ...user('userId'), traits: parsed(message.traits ?? '{}') }),
    delete: () => ({ userId: message.userId }),
  }
  const timestamp = new Date(message.timestamp).toISOString()
  if (type === 'delete') return JSON.stringify({ type, ...middle[type](), timestamp })
  return JSON.stringify({ version: 1, type, ...middle[type](), timestamp, context: parsed(message.context) })
}

const shape = fc.record({ anonymousId: fc.constantFrom<PayloadSettings['anonymousId']>('fallback', 'always') })

it('a receiver that parses and re-serialises a body gets the signed bytes', () => {
  const secret = new Secret('s3cret')
  let bodies = 0
  fc.assert(
    fc.property(sent, shape, fc.boolean(), (sentText, settings, isDelete) => {
      const taken = messageFrom(sentText)
      if (taken === undefined) return
      const message: Message = isDelete ? { ...taken, type: 'delete' } : taken
      const body = bodyOf(message, settings)
      const received = JSON.stringify(JSON.parse(body))
      expect(received).toBe(body)
      expect(createHmac('sha1', 's3cret').update(Buffer.from(received, 'utf8')).digest('hex')).toBe(
        signerOf(secret)(Buffer.from(body)),
      )
      expect(body).toBe(oracle(message, settings))
      bodies++
    }),
    { numRuns: 6_000 },
  )
  expect(bodies).toBeGreaterThanOrEqual(5_000)
})
