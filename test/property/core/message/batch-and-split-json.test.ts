import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { maxElements, readBatch } from '../../../../src/core/message/batch.ts'
import type { Message } from '../../../../src/core/message/message.ts'
import { rejectionCodes } from '../../../../src/core/message/message-rejection.ts'
import { normalise } from '../../../../src/core/message/normalise.ts'
import { parseMessageText } from '../../../../src/core/message/parse-message-json.ts'
import { refusalStatus } from '../../../../src/core/message/request-refusal.ts'
import { splitJson } from '../../../../src/core/message/split-json.ts'
import { normaliseAll, receivedAt } from '../../../support/collector/normalise-body.ts'
import { jsonText } from './any-json-text.ts'

const newId = (): string => 'new'

/** The expected result for one element, computed in a simple way. */
function alone(text: string): Message | string {
  const parsed = parseMessageText(text)
  const outcome =
    parsed.kind === 'rejected' ? parsed : normalise(parsed.value, { receivedAt, sentAt: undefined, newId })
  return outcome.kind === 'message' ? outcome.message : outcome.code
}

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

const message = fc
  .tuple(fc.oneof(jsonText.value, fc.bigInt().map(String), fc.constant('"u"')), jsonText.value, jsonText.object)
  .map(([id, other, part]) => `{"messageId":${other},"type":"page","userId":${id},"properties":${part}}`)
const valid = fc.oneof(message, message, jsonText.value)
/** Text that is not JSON, with balanced brackets, so that its end can be found. */
const broken = fc
  .tuple(
    fc.constantFrom<(inner: string) => string>(
      inner => `{"type":"page","userId":"u","a":${inner},"b":NaN}`,
      inner => `{"a":${inner},}`,
      inner => `[${inner},]`,
      inner => `{a:${inner}}`,
      inner => `{"a":[${inner}}`,
      inner => `{"a":${inner}}}`,
      inner => `${inner} ${inner}`,
      inner => `{"a":${inner} "b":1}`,
      inner => `undefined${inner}`,
      () => '',
      () => '"\t"',
      () => '"\\x"',
      () => '01',
    ),
    jsonText.value,
  )
  .map(([wrap, inner]) => wrap(inner))
const elements = fc
  .array(fc.oneof({ weight: 3, arbitrary: valid }, { weight: 1, arbitrary: broken }), { minLength: 1, maxLength: 8 })
  // One blank text would make an empty list.
  .filter(texts => texts.length > 1 || texts[0]?.trim() !== '')
const frame = fc.tuple(fc.boolean(), jsonText.value, jsonText.value, fc.constantFrom('batch', 'b\\u0061tch')).map(
  ([isBare, before, after, name]) =>
    (list: string): string =>
      isBare ? list : `{"x":${before},"batch":[{}],"${name}":${list},"y":${after}}`,
)

describe('a batch', () => {
  it('gives each message the result that it would have alone, whichever others are invalid', () => {
    fc.assert(
      fc.property(elements, frame, (texts, around) => {
        const batch = readBatch(around(`[${texts}]`), undefined)
        if (batch.kind === 'refused') throw new Error(batch.message)
        const { messages, rejected } = normaliseAll(batch, newId)
        const expected = texts.map(alone)
        expect(messages).toEqual(expected.filter(outcome => typeof outcome !== 'string'))
        expect(rejected.map(({ index, code }) => [index, code])).toEqual(
          expected.flatMap((outcome, index) => (typeof outcome === 'string' ? [[index, outcome]] : [])),
        )
        texts.forEach((text, index) => {
          expect(batch.elements.text(index).trim()).toBe(text.trim())
        })
      }),
      { numRuns: 5_000 },
    )
  })
})

describe('splitJson', () => {
  it('cuts what is JSON where a parser would', () => {
    fc.assert(
      fc.property(fc.array(jsonText.value), frame, jsonText.value, (texts, around, list) => {
        const cut = splitJson(around(`[${texts}]`), { list: 'batch', members: ['y'], maxElements: 1_000 })
        if (cut.kind !== 'list') throw new Error(cut.kind)
        const text = around(`[${texts}]`)
        const parsed = texts.map((_, index) => text.slice(cut.elements[2 * index], cut.elements[2 * index + 1]))
        expect(parsed.map(part => JSON.parse(part))).toEqual(texts.map(part => JSON.parse(part)))
        // If `list` is an array, `splitJson` must find all its elements, otherwise no list.
        const other = splitJson(list, { list: 'batch', members: [], maxElements: 1_000 })
        const value: unknown = JSON.parse(list)
        expect(other.kind === 'list' && other.elements.length / 2).toBe(Array.isArray(value) && value.length)
      }),
      { numRuns: 2_000 },
    )
  })
})

const seeds = [
  '{"batch":[{"type":"track","userId":"u1","event":"Opened","properties":{"a":[1,{"b":"c"}]},"messageId":"m1"},{"type":"page","anonymousId":"a"}],"sentAt":"2026-11-21T12:00:00.000Z","writeKey":"key","context":{"library":{"name":"x","version":"1"}},"integrations":{"All":true}}',
  '{"batch":[{"type":"identify","userId":12345678901234567890,"traits":{"x":NaN}},{"type":"alias","userId":1,"previousId":2.50}],"writeKey":"k"}',
  '[{"type":"group","groupId":7,"userId":"u","traits":[]},{"type":"screen","userId":"\\ud83d","name":"n","context":{"integrations":{"Webhooks":false}}}]',
  '{"type":"track","event":"e","userId":"u","timestamp":"2012-12-02T00:30:08.276Z","originalTimestamp":"x","properties":{"__proto__":{"a":1},"n":1e400}}',
]
const pieces = [
  ...'[]{}",:\\ \n0-\u0000\ud83d',
  ...['1e999', 'NaN', 'null', '\\ud83d', '[[[[[[[[', '}}}}}}}}', '"__proto__":', '"batch":[', '"type":"page",'],
  ...['"userId":9007199254740993,', '{"type":"page","userId":"u"}'],
]
const mutation = fc.tuple(
  fc.constantFrom('insert', 'delete', 'replace', 'repeat', 'cut_off'),
  fc.nat({ max: 400 }),
  fc.nat({ max: 12 }),
  fc.constantFrom(...pieces),
)
const mutated = fc
  .tuple(fc.constantFrom(...seeds), fc.array(mutation, { minLength: 1, maxLength: 4 }))
  .map(([seed, mutations]) => mutations.reduce((text, each) => mutate(text, ...each), seed))

function mutate(text: string, how: string, where: number, length: number, piece: string): string {
  const at = where % (text.length + 1)
  const [before, own, after] = [text.slice(0, at), text.slice(at, at + length), text.slice(at + length)]
  if (how === 'insert') return before + piece + own + after
  if (how === 'delete') return before + after
  if (how === 'replace') return before + piece + after
  if (how === 'repeat') return before + own.repeat(3) + after
  return at > text.length / 2 ? before : text
}

describe('any body', () => {
  it('gets a response, and only messages that normalise accepts are accepted', () => {
    const seen = { refused: 0, salvaged: 0, whole: 0 }
    fc.assert(
      fc.property(mutated, fc.constantFrom(undefined, undefined, 'track' as const), (body, type) => {
        const batch = readBatch(body, type)
        if (batch.kind === 'refused') {
          seen.refused += 1
          if (!(batch.code in refusalStatus)) throw new Error(batch.code)
          return
        }
        seen[isJson(body) ? 'whole' : 'salvaged'] += 1
        const { elements: given, sentAt, context, integrations } = batch
        const batchContext = context && JSON.parse(context)
        const batchIntegrations = integrations && JSON.parse(integrations)
        const { messages, rejected } = normaliseAll(batch, newId)
        if (given.size > maxElements || messages.length + rejected.length !== given.size)
          throw new Error('the count is wrong')
        const refusedAt = new Set(rejected.map(({ index }) => index))
        const takenAt = Array.from({ length: given.size }, (_, index) => index).filter(index => !refusedAt.has(index))
        takenAt.forEach((index, position) => {
          const parsed = parseMessageText(given.text(index))
          if (parsed.kind === 'rejected') throw new Error('what is no JSON was taken')
          const input = type === undefined ? parsed.value : { ...(parsed.value as object), type }
          const again = normalise(input, { receivedAt, newId, sentAt, batchContext, batchIntegrations })
          if (again.kind === 'rejected') throw new Error(`taken, but ${again.code}`)
          expect(messages[position]).toEqual(again.message)
        })
        if (rejected.some(({ code }) => !rejectionCodes.includes(code))) throw new Error('no such code')
      }),
      { numRuns: 25_000 },
    )
    // Each kind of result must occur often.
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(1_250)
  })
})
