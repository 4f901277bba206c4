import { createHash } from 'node:crypto'
import { expect, it } from '@jest/globals'
import fc from 'fast-check'
import { filteredBy } from '../../../../src/core/delivery/event-filter.ts'
import { FilterFields } from '../../../../src/core/delivery/filter-field-values.ts'
import { matches, parsePattern } from '../../../../src/core/delivery/name-pattern.ts'
import { bodyOf } from '../../../../src/core/delivery/payload.ts'
import { callTypes, type Message } from '../../../../src/core/message/message.ts'
import { normalise } from '../../../../src/core/message/normalise.ts'
import { conditionOps } from '../../../../src/core/settings/schema-of-event-filter.ts'
import type { DestinationFilter } from '../../../../src/core/settings/settings.ts'
import { destinationOf, start } from '../../../support/builders.ts'

type Condition = NonNullable<DestinationFilter['where']>[number]

/** Tries all lengths of text for each `*`. */
function modelMatches(pattern: string, name: string): boolean {
  if (pattern === '') return name === ''
  if (pattern[0] !== '*') return name !== '' && pattern[0] === name[0] && modelMatches(pattern.slice(1), name.slice(1))
  return Array.from({ length: name.length + 1 }, (_, skipped) => name.slice(skipped)).some(rest =>
    modelMatches(pattern.slice(1), rest),
  )
}

/** The value at a path of the parsed request body; undefined for null and for an absent value. */
function modelValue(path: string, message: Message): unknown {
  if (path === 'userId') return message.userId
  if (path === 'anonymousId') return message.anonymousId
  if (path === 'previousId') return message.type === 'alias' ? message.previousId : undefined
  let value: unknown = JSON.parse(bodyOf(message, { anonymousId: 'fallback' }))
  for (const name of path.split('.')) {
    const entries = typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.entries(value) : []
    value = new Map<string, unknown>(entries).get(name)
  }
  return value ?? undefined
}

function modelHolds({ path, op, value }: Condition, message: Message): boolean {
  const found = modelValue(path, message)
  const isNumber = typeof found === 'number'
  const text = JSON.stringify(found)
  const model: Record<Condition['op'], () => boolean> = {
    eq: () => text === JSON.stringify(value),
    ne: () => text !== JSON.stringify(value),
    in: () => (value as readonly unknown[]).map(each => JSON.stringify(each)).includes(text),
    exists: () => (text === undefined) === (value === false),
    gt: () => isNumber && !(found <= Number(value)),
    gte: () => isNumber && !(found < Number(value)),
    lt: () => isNumber && !(found >= Number(value)),
    lte: () => isNumber && !(found > Number(value)),
    prefix: () => typeof found === 'string' && found.slice(0, String(value).length) === value,
  }
  return model[op]()
}

function modelSample(destination: string, message: Message, percent: number): boolean {
  const digest = createHash('sha256')
    .update(`${destination}\n${message.userId ?? message.anonymousId}`)
    .digest('hex')
  return (100 * Number.parseInt(digest.slice(0, 12), 16)) / 2 ** 48 < percent
}

function modelPasses(id: string, { types, events, where, sample }: DestinationFilter, message: Message): boolean {
  const name = message.event ?? ''
  const isTrack = message.type === 'track'
  const isIncluded = events?.include?.some(pattern => modelMatches(pattern, name)) ?? true
  const isExcluded = events?.exclude?.some(pattern => modelMatches(pattern, name)) ?? false
  return [
    types === undefined || types.some(type => type === message.type),
    !isTrack || (isIncluded && !isExcluded),
    (where ?? []).every(condition => modelHolds(condition, message)),
    sample === undefined || modelSample(id, message, sample.percent),
  ].every(Boolean)
}

const letters = (maxLength: number) => fc.string({ unit: fc.constantFrom('a', 'b', ' '), maxLength })
const pattern = fc.string({ unit: fc.constantFrom('a', 'b', '*'), minLength: 1, maxLength: 6 })
const scalar = fc.constantFrom<string | number | boolean>('', 'a', 'ab', '1', 0, 1, -0.5, 1e21, true, false)
const key = fc.constantFrom('a', 'b', 'name', 'category', 'constructor', 'toString', '__proto__', '0', 'length')
const { value: json } = fc.letrec<{ value: unknown }>(tie => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    scalar,
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 2 }),
    fc.dictionary(key, tie('value'), { maxKeys: 3 }),
  ),
}))
const part = fc.option(fc.dictionary(key, json, { maxKeys: 4 }), { nil: undefined })
const id = fc.constantFrom('u-1', 'u-2', 'a', 'b')
const aMessage = fc
  .record({
    type: fc.constantFrom(...callTypes),
    ...{ userId: id, anonymousId: id, groupId: id, previousId: id, event: letters(4).map(text => `a${text}`) },
    name: fc.option(fc.constantFrom('a', 'ab'), { nil: undefined }),
    category: fc.option(fc.constantFrom('a', 'ab'), { nil: undefined }),
    ...{ properties: part, traits: part, context: part },
  })
  .map((given): Message => {
    const result = normalise(given, { receivedAt: start, sentAt: undefined, newId: () => 'm-1' })
    if (result.kind === 'rejected') throw new TypeError(result.message)
    return result.message
  })

const path = fc.oneof(
  fc.constantFrom('type', 'userId', 'anonymousId', 'groupId', 'previousId', 'event', 'name', 'timestamp'),
  fc
    .tuple(fc.constantFrom('properties', 'traits', 'context'), fc.array(key, { minLength: 1, maxLength: 3 }))
    .map(([root, names]) => [root, ...names].join('.')),
)
const condition = fc.tuple(path, fc.constantFrom(...conditionOps)).chain(([at, op]) => {
  const number = fc.constantFrom(0, 1, -0.5, 1e21)
  const values: Partial<Record<Condition['op'], fc.Arbitrary<Condition['value']>>> = {
    in: fc.array(scalar, { minLength: 1, maxLength: 3 }),
    exists: fc.boolean(),
    ...{ gt: number, gte: number, lt: number, lte: number },
    prefix: fc.constantFrom('a', 'ab', 'track', '2026'),
  }
  return (values[op] ?? scalar).map((value): Condition => ({ path: at, op, value }))
})
const patterns = fc.option(fc.array(pattern, { minLength: 1, maxLength: 3 }), { nil: undefined })
const aFilter: fc.Arbitrary<DestinationFilter> = fc.record(
  {
    types: fc.subarray([...callTypes], { minLength: 1 }),
    events: fc.record({ include: patterns, exclude: patterns }),
    where: fc.array(condition, { minLength: 1, maxLength: 2 }),
    sample: fc.record({ percent: fc.double({ min: 0.1, max: 100, noNaN: true }), by: fc.constant('user' as const) }),
  },
  { requiredKeys: [] },
)

it('a message passes a filter exactly when every rule of the model passes', () => {
  fc.assert(
    fc.property(aMessage, aFilter, fc.constantFrom('crm', 'lake'), (message, filter, destination) => {
      const rule = filteredBy(destinationOf({ id: destination, filter }), new FilterFields(message))
      expect(rule === undefined).toBe(modelPasses(destination, filter, message))
    }),
    { numRuns: 3_000 },
  )
})

it('a condition holds exactly when it holds for the parsed request body', () => {
  fc.assert(
    fc.property(aMessage, condition, (message, each) => {
      const destination = destinationOf({ filter: { where: [each] } })
      const isHeld = filteredBy(destination, new FilterFields(message)) === undefined
      expect(isHeld).toBe(modelHolds(each, message))
    }),
    { numRuns: 3_000 },
  )
})

it('a pattern matches the same names as an exhaustive search', () => {
  fc.assert(
    fc.property(pattern, letters(8), (text, name) => {
      expect(matches(parsePattern(text), name)).toBe(modelMatches(text, name))
    }),
    { numRuns: 3_000 },
  )
})

it('a larger percentage keeps every user of the sample, and the share is near the percentage', () => {
  const users = Array.from({ length: 20_000 }, (_, index) => `user-${index}`)
  const sampleOf = (percent: number) => {
    const destination = destinationOf({ filter: { sample: { percent, by: 'user' } } })
    return users.filter(userId => {
      const message = { ...anyMessage, userId }
      return filteredBy(destination, new FilterFields(message)) === undefined
    })
  }
  const [small, large] = [sampleOf(2.5), sampleOf(10)]
  expect(small.filter(user => !large.includes(user))).toEqual([])
  // The tolerance is five standard deviations of a binomial distribution.
  expect(Math.abs(small.length - 500)).toBeLessThan(5 * Math.sqrt(20_000 * 0.025 * 0.975))
  expect(Math.abs(large.length - 2_000)).toBeLessThan(5 * Math.sqrt(20_000 * 0.1 * 0.9))
})

const anyMessage = fc.sample(aMessage, { numRuns: 1, seed: 1 })[0] as Message
