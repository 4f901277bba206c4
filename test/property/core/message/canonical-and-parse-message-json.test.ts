import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { canonicalJson } from '../../../../src/core/message/canonical-json.ts'
import { idFields } from '../../../../src/core/message/message-ids-and-required-identifiers.ts'
import { parseMessageText } from '../../../../src/core/message/parse-message-json.ts'
import { membersIn } from '../../../../src/core/message/split-json.ts'
import { jsonText } from './any-json-text.ts'

const wellFormed = (text: string): string => text.replace(/\p{Surrogate}/gu, '\ufffd')

/**
 * Returns the value with well-formed texts and without `__proto__`. A reviver would get the first
 * of two members with the same name, but the last one counts.
 */
function cleaned(value: unknown): unknown {
  if (typeof value === 'string') return wellFormed(value)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(cleaned)
  const members = Object.entries(value).filter(([key]) => key !== '__proto__')
  return Object.fromEntries(members.map(([key, member]) => [wellFormed(key), cleaned(member)]))
}

const expected = (text: string): string => JSON.stringify(cleaned(JSON.parse(text)))

function protoMembers(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  return Object.entries(value).reduce((sum, [key, member]) => sum + (key === '__proto__' ? 1 : protoMembers(member)), 0)
}

describe('canonicalJson', () => {
  it('equals stringify after parse, and changes nothing else', () => {
    fc.assert(
      fc.property(jsonText.value, text => {
        const canonical = canonicalJson(JSON.parse(text))
        expect(canonical).toEqual({
          kind: 'canonical',
          text: expected(text),
          droppedKeys: protoMembers(JSON.parse(text)),
        })
        if (canonical.kind === 'rejected') return
        expect(JSON.stringify(JSON.parse(canonical.text))).toBe(canonical.text)
        expect(canonicalJson(JSON.parse(canonical.text))).toEqual({ ...canonical, droppedKeys: 0 })
        expect(Buffer.from(canonical.text, 'utf8').toString('utf8')).toBe(canonical.text)
      }),
      { numRuns: 10_000 },
    )
  })

  it('does not change the value', () => {
    fc.assert(
      fc.property(jsonText.value, text => {
        const value = JSON.parse(text)
        canonicalJson(value)
        expect(JSON.stringify(value)).toBe(JSON.stringify(JSON.parse(text)))
      }),
    )
  })

  it('rejects exactly the numbers that exceed a double', () => {
    fc.assert(
      fc.property(jsonText.value, fc.boolean(), fc.integer({ min: 300, max: 320 }), (text, negative, exponent) => {
        const number = `${negative ? '-' : ''}1e${exponent}`
        const outcome = canonicalJson(JSON.parse(`[${text},{"a":[${number}]}]`))
        expect(outcome).toMatchObject(exponent > 308 ? { code: 'non_finite_number' } : { kind: 'canonical' })
      }),
    )
  })

  it('accepts at most 100 levels, at any place', () => {
    fc.assert(
      fc.property(jsonText.value, fc.array(fc.boolean(), { minLength: 94, maxLength: 106 }), (text, levels) => {
        const nested = levels.reduceRight((inner, list) => (list ? `[${text},${inner}]` : `{"x":${inner}}`), '0')
        const outcome = canonicalJson(JSON.parse(nested))
        // `text` adds up to five levels, so with 96 to 100 `levels`, both results are possible.
        if (levels.length <= 95) expect(outcome).toMatchObject({ kind: 'canonical' })
        if (levels.length > 100) expect(outcome).toMatchObject({ code: 'too_deep' })
      }),
      { numRuns: 200 },
    )
  })
})

const idMember = fc
  .tuple(
    fc.constantFrom(
      ...['"userId"', '"messageId"', '"user\\u0049d"', '"\\u0067roupId"', '"previousId"', '"__proto__"', '"x"'],
    ),
    fc.constantFrom('', ' ', '\n\t'),
    fc.oneof(
      fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }).map(String),
      fc.constantFrom('1.50', '-0', '1e400', '2E+3', 'null', '"text"', '{"userId":1.0}', '[{"messageId":2.0}]'),
      jsonText.value,
    ),
    fc.constantFrom('', ' ', '\r'),
  )
  .map(([name, before, value, after]) => `${before}${name}${after}:${before}${value}${after}`)
const message = fc.array(idMember, { maxLength: 8 }).map(members => ` {${members}} `)

type SourceReviver = (this: unknown, key: string, value: unknown, context: { readonly source?: string }) => unknown

/**
 * The expected result of `parseMessageText`: numbers that are ids of the outermost object keep
 * their text.
 */
function withIdsAsWritten(text: string): unknown {
  const sources: { readonly holder: unknown; readonly key: string; readonly source: string }[] = []
  const parse = JSON.parse as (text: string, reviver: SourceReviver) => Record<string, unknown>
  const root = parse(text, function (key, value, { source }) {
    if (typeof value === 'number' && source !== undefined) sources.push({ holder: this, key, source })
    return value
  })
  const own = sources.filter(({ holder, key }) => holder === root && (idFields as readonly string[]).includes(key))
  const value = { ...root, ...Object.fromEntries(own.map(({ key, source }) => [key, source])) }
  return { kind: 'parsed', value, addedBytes: own.length === 0 ? undefined : 2 * own.length }
}

describe('membersIn', () => {
  it('finds the same value as a parser, for each name', () => {
    fc.assert(
      fc.property(fc.oneof(jsonText.object, message), text => {
        const object = JSON.parse(text) as Record<string, unknown>
        const names = Object.keys(object)
        const found = membersIn(text, names)
        expect([...found.keys()].sort()).toEqual([...names].sort())
        for (const [name, member] of found)
          expect(JSON.parse(member)).toEqual(Object.entries(object).find(([key]) => key === name)?.[1])
      }),
      { numRuns: 5_000 },
    )
  })

  it('never throws, and returns a part of the text', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: 'binary' }),
          message.map(text => text.slice(0, -2)),
        ),
        text => {
          for (const member of membersIn(text, ['userId', 'x', '']).values()) expect(text).toContain(member)
        },
      ),
    )
  })
})

describe('parseMessageText', () => {
  it('keeps the original digits of ids', () => {
    fc.assert(
      fc.property(message, text => {
        expect(parseMessageText(text)).toEqual(withIdsAsWritten(text))
      }),
      { numRuns: 10_000 },
    )
  })

  it('equals JSON.parse except for ids', () => {
    fc.assert(
      fc.property(jsonText.object, fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }), (text, id) => {
        const withId = `${text.slice(0, -1)}${text.endsWith('{}') ? '' : ','}"userId":${id}}`
        const value = { ...JSON.parse(withId), userId: `${id}` }
        expect(parseMessageText(withId)).toEqual({ kind: 'parsed', value, addedBytes: 2 })
      }),
    )
  })

  it('never throws', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: 'binary' }),
          jsonText.value.map(text => text.slice(0, -1)),
        ),
        text => {
          const outcome = parseMessageText(text)
          if (outcome.kind === 'rejected') expect(() => JSON.parse(text)).toThrow(SyntaxError)
        },
      ),
    )
  })
})
