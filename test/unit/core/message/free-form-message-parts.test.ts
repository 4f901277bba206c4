import { describe, expect, it } from '@jest/globals'
import { type BatchDefaults, partsOf } from '../../../../src/core/message/free-form-message-parts.ts'
import type { CallType } from '../../../../src/core/message/message.ts'
import { maxMessageBytes } from '../../../../src/core/message/message-size-limits.ts'

const partsOfTrack = (fields: object, batch: BatchDefaults = {}) => partsOf('track', { ...fields }, batch)
function textsOf(fields: object, batch: BatchDefaults = {}, type: CallType = 'track') {
  const outcome = partsOf(type, { ...fields }, batch)
  if (outcome.kind === 'rejected') throw new Error(outcome.message)
  return outcome.texts
}

describe('partsOf', () => {
  it.each([
    ['none', {}, {}],
    ['[] is {}', { properties: [], traits: [], context: [], integrations: [] }, { properties: '{}', traits: '{}' }],
    ['{} in context and integrations counts as absent', { context: {}, integrations: {} }, {}],
    [
      'a value that is not an object is absent',
      { properties: null, traits: 'x', context: 5, integrations: [true] },
      {},
    ],
    ['canonical text', { properties: { b: 1, 2: 1.0, a: 'x\ud83d' } }, { properties: '{"2":1,"b":1,"a":"x\ufffd"}' }],
    ['an inner list stays a list', { traits: { tags: [] } }, { traits: '{"tags":[]}' }],
  ])('%s', (_, fields, expected) => {
    expect(textsOf(fields)).toEqual(expected)
  })

  it.each([
    ['alone', { context: { integrations: { A: false } } }, undefined, '{"A":false}'],
    [
      'key by key; the top level takes precedence',
      { integrations: { A: true, C: 1 }, context: { ip: 'x', integrations: { A: false, B: false } } },
      '{"ip":"x"}',
      '{"A":true,"B":false,"C":1}',
    ],
    [
      'next to a value that is not an object',
      { integrations: false, context: { integrations: { A: false } } },
      undefined,
      '{"A":false}',
    ],
    ['not an object', { integrations: { A: true }, context: { x: 1, integrations: 'none' } }, '{"x":1}', '{"A":true}'],
    ["PHP's empty object", { integrations: { A: true }, context: { integrations: [] } }, undefined, '{"A":true}'],
  ])('context.integrations moves up: %s', (_, fields, context, integrations) => {
    expect(textsOf(fields)).toEqual({ context, integrations })
  })

  it.each([
    ['none of its own', {}, { library: { name: 'go' } }, { A: false }, '{"library":{"name":"go"}}', '{"A":false}'],
    [
      'keys of the message replace whole values',
      { context: { library: { name: 'js' }, ip: 'x' }, integrations: { A: true } },
      { library: { name: 'go', version: '1' }, os: {} },
      { A: false, B: false },
      '{"library":{"name":"js"},"os":{},"ip":"x"}',
      '{"A":true,"B":false}',
    ],
    [
      'all four sources of integrations',
      { context: { integrations: { C: 3, D: 3 } }, integrations: { D: 4 } },
      { integrations: { A: 1, B: 1, C: 1, D: 1 } },
      { B: 2, C: 2, D: 2 },
      undefined,
      '{"A":1,"B":2,"C":3,"D":4}',
    ],
    ['no objects', { context: { ip: 'x' } }, 'x', [false], '{"ip":"x"}', undefined],
    ['empty', {}, [], {}, undefined, undefined],
  ])('batch context and integrations: %s', (_, fields, batchContext, batchIntegrations, context, integrations) => {
    expect(textsOf(fields, { batchContext, batchIntegrations })).toEqual({ context, integrations })
  })

  it('does not change the batch', () => {
    const batchContext = { library: { name: 'go' }, integrations: { A: true } }
    textsOf({ context: { ip: 'x' } }, { batchContext })
    expect(batchContext).toEqual({ library: { name: 'go' }, integrations: { A: true } })
  })

  it.each([
    ['of an identify without traits', 'identify', { context: { traits: { a: 1 } } }, '{"a":1}'],
    ['not when there are traits', 'identify', { traits: {}, context: { traits: { a: 1 } } }, '{}'],
    ['not when it is not an object', 'identify', { context: { traits: 'a' } }, undefined],
    ['not of a group', 'group', { context: { traits: { a: 1 } } }, undefined],
  ] as const)('uses context.traits as traits (RudderStack Python): %s', (_, type, fields, traits) => {
    expect(textsOf(fields, {}, type)).toEqual({ traits, context: JSON.stringify(fields.context) })
  })
})

describe('hostile content', () => {
  const hostile = (text: string) => partsOf('track', JSON.parse(`{${text}}`), {})
  it('removes __proto__ at every depth, and counts each once', () => {
    const everywhere =
      '"__proto__":1,"properties":{"__proto__":{},"constructor":1},"other":[{"__proto__":1}],' +
      '"context":{"__proto__":1,"integrations":{"__proto__":1}}'
    const texts = { properties: '{"constructor":1}' }
    expect(hostile(everywhere)).toEqual({ kind: 'parts', texts, droppedKeys: 5 })
  })

  it.each([
    ['properties', `"properties":{"a":${'['.repeat(100)}${']'.repeat(100)}}`, 'too_deep'],
    ['traits', `"traits":${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`, 'too_deep'],
    ['context', '"context":{"a":1e400}', 'non_finite_number'],
    ['A field of the message', '"Ada: +49 30 1234567":[-1e400]', 'non_finite_number'],
    ['A field of the message', `"toString":${'['.repeat(101)}${']'.repeat(101)}`, 'too_deep'],
  ])('is rejected, naming %s', (field, text, code) => {
    const message = expect.stringMatching(new RegExp(`^${field} (is|contains)`))
    expect(hostile(text)).toEqual({ kind: 'rejected', code, message })
  })

  it("a batch's context is checked too", () => {
    expect(partsOfTrack({}, { batchContext: { a: Number.NaN } })).toMatchObject({ code: 'non_finite_number' })
  })
})

describe('the limit of 32,768 bytes', () => {
  const bytesOf = (value: object): number => Buffer.byteLength(JSON.stringify(value))
  /** A message of `bytes` bytes whose `field` is filled with `filler`. */
  function ofBytes(bytes: number, filler: string, field: string): object {
    const room = bytes - bytesOf({ userId: 'ü', [field]: [''] })
    const unit = bytesOf([filler]) - bytesOf([''])
    return { userId: 'ü', [field]: [filler.repeat(Math.floor(room / unit)) + 'x'.repeat(room % unit)] }
  }

  it.each([
    ['ASCII', 'x', 'properties'],
    ['two bytes a character', 'ä', 'properties'],
    ['three bytes a character', '漢', 'properties'],
    ['four bytes a pair', '😀', 'traits'],
    ['escaped characters', '"', 'context'],
    ['control characters', '\u0001', 'context'],
    ['an unknown field', 'x', 'unknown "field"'],
  ])('%s', (_, filler, field) => {
    expect(bytesOf(ofBytes(maxMessageBytes, filler, field))).toBe(maxMessageBytes)
    expect(partsOfTrack(ofBytes(maxMessageBytes, filler, field))).toMatchObject({ kind: 'parts' })
    expect(partsOfTrack(ofBytes(maxMessageBytes + 1, filler, field))).toEqual({
      kind: 'rejected',
      code: 'message_too_large',
      message:
        'The message has 32769 bytes of compact JSON; the limit is 32768 bytes: remove fields, or split the message.',
    })
  })

  it.each(['x', '\u0001'])('counts text outside the parts: %j', character => {
    const unit = bytesOf([character]) - bytesOf([''])
    const room = Math.floor((maxMessageBytes - bytesOf({ name: '' })) / unit)
    expect(partsOfTrack({ name: character.repeat(room) })).toMatchObject({ kind: 'parts' })
    expect(partsOfTrack({ name: character.repeat(room + 1) })).toMatchObject({ code: 'message_too_large' })
  })

  it('does not count removed members', () => {
    const text = 'x'.repeat(20_000)
    expect(partsOfTrack(JSON.parse(`{"__proto__":"${text}","name":"${text}"}`))).toMatchObject({ kind: 'parts' })
    expect(partsOfTrack({ name: text, context: undefined })).toMatchObject({ kind: 'parts' })
  })

  it('does not count the context of the batch', () => {
    const batch = { batchContext: { big: 'x'.repeat(30_000) } }
    expect(partsOfTrack(ofBytes(maxMessageBytes, 'x', 'context'), batch)).toMatchObject({ kind: 'parts' })
  })
})
