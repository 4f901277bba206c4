import { describe, expect, it, jest } from '@jest/globals'
import { type FilterRule, filteredBy, isNeverFiltered } from '../../../../src/core/delivery/event-filter.ts'
import { FilterFields } from '../../../../src/core/delivery/filter-field-values.ts'
import type { JsonText } from '../../../../src/core/message/canonical-json-text.ts'
import type { Message } from '../../../../src/core/message/message.ts'
import { audiencesSource, canarySource } from '../../../../src/core/message/own-event-builder-and-source-ids.ts'
import type { DestinationFilter } from '../../../../src/core/settings/settings.ts'
import { destinationOf, eventOf, messageOf } from '../../../support/builders.ts'

const json = (value: unknown) => JSON.stringify(value) as JsonText

/** The rule that stops the message. Undefined if the message passes the filter. */
function ruleFor(filter: DestinationFilter | undefined, given: Partial<Message> = {}, id = 'crm') {
  return filteredBy(destinationOf({ id, filter }), new FilterFields(messageOf(given)))
}

const order: Partial<Message> = { event: 'Order Completed', properties: json({ total: 12.5, currency: 'EUR' }) }

describe('the rules', () => {
  it.each<[string, DestinationFilter | undefined, Partial<Message>, FilterRule | undefined]>([
    ['no filter: passes', undefined, {}, undefined],
    ['a filter without rules: passes', {}, {}, undefined],
    ['types: has the type', { types: ['identify', 'track'] }, {}, undefined],
    ['types: does not have it', { types: ['identify'] }, {}, ['types']],
    ['events.include: matches', { events: { include: ['Order *'] } }, order, undefined],
    ['events.include: the second one matches', { events: { include: ['Signed *', 'Order *'] } }, order, undefined],
    ['events.include: none matches', { events: { include: ['Signed *'] } }, order, ['events', 'include']],
    ['events.exclude: matches', { events: { exclude: ['Order Viewed', 'Order *'] } }, order, ['events', 'exclude', 1]],
    ['events.exclude: none matches', { events: { exclude: ['Order Viewed'] } }, order, undefined],
    [
      'events: exclude wins over include',
      { events: { include: ['Order *'], exclude: ['*Completed'] } },
      order,
      ['events', 'exclude', 0],
    ],
    [
      'events: only the first 1,000 characters of a name are compared',
      { events: { exclude: ['*x', 'a*'] } },
      { event: `${'a'.repeat(1_000)}x` },
      ['events', 'exclude', 1],
    ],
    ['events: other types pass', { events: { include: ['Order *'], exclude: ['*'] } }, { type: 'page' }, undefined],
    [
      'events: the field event of another type has no meaning',
      { events: { include: ['Order *'] } },
      { type: 'identify', event: 'Signed up' },
      undefined,
    ],
    [
      'where: all hold',
      {
        where: [
          { path: 'properties.total', op: 'gte', value: 10 },
          { path: 'event', op: 'prefix', value: 'Order' },
        ],
      },
      order,
      undefined,
    ],
    [
      'where: the second does not hold',
      {
        where: [
          { path: 'properties.total', op: 'gte', value: 10 },
          { path: 'properties.currency', op: 'eq', value: 'USD' },
        ],
      },
      order,
      ['where', 1],
    ],
    [
      'where: applies to every type',
      { where: [{ path: 'properties.total', op: 'gte', value: 10 }] },
      { type: 'identify' },
      ['where', 0],
    ],
    ['all rules: the first in order is named', { types: ['page'], events: { exclude: ['*'] } }, order, ['types']],
  ])('%s', (_, filter, message, expected) => {
    expect(ruleFor(filter, message)).toEqual(expected)
  })
})

describe('the operators', () => {
  const properties = json({
    n: 10,
    zero: 0,
    text: '10',
    yes: true,
    no: false,
    nothing: null,
    list: [10],
    map: { a: 1 },
  })
  it.each<[string, ...[path: string, op: string, value: unknown, holds: boolean][]]>([
    ['eq: a number', ['n', 'eq', 10, true], ['n', 'eq', 11, false]],
    ['eq: text is not a number', ['text', 'eq', 10, false], ['n', 'eq', '10', false], ['text', 'eq', '10', true]],
    ['eq: a boolean', ['yes', 'eq', true, true], ['no', 'eq', false, true], ['zero', 'eq', false, false]],
    ['eq: a list or an object never is', ['list', 'eq', 10, false], ['map', 'eq', 1, false]],
    ['eq: a missing value never is', ['none', 'eq', '', false], ['nothing', 'eq', 'null', false]],
    ['ne: the opposite of eq', ['n', 'ne', 10, false], ['n', 'ne', 11, true], ['text', 'ne', 10, true]],
    ['ne: holds for a missing value', ['none', 'ne', 10, true], ['nothing', 'ne', 10, true]],
    ['in: one of the list', ['n', 'in', [9, 10], true], ['n', 'in', [9, '10'], false], ['none', 'in', [10], false]],
    ['in: a list is not one of the list', ['list', 'in', [10], false]],
    [
      'exists: any value but null',
      ['zero', 'exists', true, true],
      ['no', 'exists', true, true],
      ['map', 'exists', true, true],
    ],
    ['exists: null is missing', ['nothing', 'exists', true, false], ['nothing', 'exists', false, true]],
    ['exists: absent', ['none', 'exists', true, false], ['none', 'exists', false, true], ['n', 'exists', false, false]],
    ['gt', ['n', 'gt', 9.5, true], ['n', 'gt', 10, false]],
    ['gte', ['n', 'gte', 10, true], ['n', 'gte', 10.5, false]],
    ['lt', ['n', 'lt', 10.5, true], ['n', 'lt', 10, false]],
    ['lte', ['n', 'lte', 10, true], ['n', 'lte', 9.5, false]],
    [
      'gt, gte, lt, lte: only numbers',
      ['text', 'gt', 1, false],
      ['yes', 'gte', 0, false],
      ['list', 'lt', 99, false],
      ['none', 'lte', 99, false],
      ['nothing', 'lte', 99, false],
    ],
    ['prefix', ['text', 'prefix', '1', true], ['text', 'prefix', '10', true], ['text', 'prefix', '100', false]],
    ['prefix: only texts', ['n', 'prefix', '1', false], ['none', 'prefix', 'u', false]],
  ])('%s', (_, ...cases) => {
    for (const [name, op, value, holds] of cases) {
      const where = [{ path: `properties.${name}`, op, value }] as DestinationFilter['where']
      expect({ name, op, value, holds: ruleFor({ where }, { properties }) === undefined }).toEqual({
        name,
        op,
        value,
        holds,
      })
    }
  })
})

describe('a path', () => {
  const value = (path: string, given: Partial<Message>) => {
    const isEqual = (op: 'eq', each: string | number | boolean) =>
      ruleFor({ where: [{ path, op, value: each }] }, given) === undefined
    const isMissing = ruleFor({ where: [{ path, op: 'exists', value: false }] }, given) === undefined
    return isMissing ? undefined : (['x', 'y', 1].find(each => isEqual('eq', each)) ?? 'another value')
  }

  it.each<[string, string, Partial<Message>, unknown]>([
    ['leads into nested objects', 'properties.a.b', { properties: json({ a: { b: 1 } }) }, 1],
    ['does not lead into lists', 'properties.a.0', { properties: json({ a: ['x'] }) }, undefined],
    ['does not lead into texts', 'properties.a.length', { properties: json({ a: 'x' }) }, undefined],
    ['has no prototype: constructor', 'properties.constructor', { properties: json({}) }, undefined],
    ['has no prototype: __proto__', 'properties.__proto__.toString', { properties: json({}) }, undefined],
    [
      'reads an own member with the name of a built-in one',
      'properties.toString',
      { properties: json({ toString: 'x' }) },
      'x',
    ],
    ['context of every type', 'context.app', { type: 'alias', context: json({ app: 'x' }) }, 'x'],
    ['traits of an identify', 'traits.plan', { type: 'identify', traits: json({ plan: 'x' }) }, 'x'],
    ['traits of a track, which the body does not have', 'traits.plan', { traits: json({ plan: 'x' }) }, undefined],
    [
      'properties of an identify, which the body does not have',
      'properties.a',
      { type: 'identify', properties: json({ a: 1 }) },
      undefined,
    ],
    ['no properties', 'properties.a', {}, undefined],
    ['properties that are not JSON', 'properties.a', { properties: '{"a":1,}' as JsonText }, undefined],
    ['userId', 'userId', { userId: 'x' }, 'x'],
    ['userId of an alias, which the body names differently', 'userId', { type: 'alias', userId: 'x' }, 'x'],
    ['previousId of an alias', 'previousId', { type: 'alias', previousId: 'x' }, 'x'],
    ['anonymousId beside a userId', 'anonymousId', { anonymousId: 'x' }, 'x'],
    ['groupId of a group', 'groupId', { type: 'group', groupId: 'x' }, 'x'],
    ['groupId of a track, which the body does not have', 'groupId', { groupId: 'x' }, undefined],
    ['event', 'event', { event: 'x' }, 'x'],
    ['name of a screen', 'name', { type: 'screen', name: 'x' }, 'x'],
    ['name of a page is in its properties', 'properties.name', { type: 'page', name: 'x' }, 'x'],
    ['name of a page is not beside them', 'name', { type: 'page', name: 'x' }, undefined],
    [
      'an own name of the properties comes first',
      'properties.name',
      { type: 'page', name: 'x', properties: json({ name: 'y' }) },
      'y',
    ],
    [
      'a null in the properties does not',
      'properties.name',
      { type: 'page', name: 'x', properties: json({ name: null }) },
      'x',
    ],
    ['category of a page', 'properties.category', { type: 'page', category: 'x' }, 'x'],
    ['category of a screen', 'properties.category', { type: 'screen', category: 'x' }, 'x'],
    ['category of a track, which the body does not have', 'properties.category', { category: 'x' }, undefined],
    ['name of a screen is not in its properties', 'properties.name', { type: 'screen', name: 'x' }, undefined],
  ])('%s', (_, path, message, expected) => {
    expect(value(path, message)).toBe(expected)
  })

  it.each<[string, DestinationFilter]>([
    ['type', { where: [{ path: 'type', op: 'eq', value: 'track' }] }],
    [
      'timestamp, in the form of the body',
      { where: [{ path: 'timestamp', op: 'prefix', value: '2026-11-21T08:00:00.000Z' }] },
    ],
  ])('%s', (_, filter) => {
    expect(ruleFor(filter)).toBeUndefined()
  })
})

describe('parsing', () => {
  it('happens once for all destinations, and only when a condition needs the part', () => {
    const parse = jest.spyOn(JSON, 'parse')
    const where: DestinationFilter['where'] = [{ path: 'properties.total', op: 'gte', value: 10 }]
    const fields = new FilterFields(messageOf({ ...order, context: json({ a: 1 }) }))
    const filters: DestinationFilter[] = [
      { types: ['track'], events: { include: ['Order *'] }, sample: { percent: 100, by: 'user' } },
      {},
    ]
    for (const filter of filters) filteredBy(destinationOf({ filter }), fields)
    filteredBy(destinationOf({ filter: { types: ['page'], where } }), fields)
    const before = parse.mock.calls.length
    for (const id of ['a', 'b']) filteredBy(destinationOf({ id, filter: { where } }), fields)
    const after = parse.mock.calls.length
    parse.mockRestore()
    expect([before, after]).toEqual([0, 1])
  })
})

describe('the sample', () => {
  // The numbers are computed with Python, for example:
  // int.from_bytes(hashlib.sha256(b'crm\nu-1').digest()[:6], 'big') / 2**48 * 100
  it.each([
    ['crm', 'u-1', 2.5905505053458455],
    ['crm', 'u-2', 6.151381877873874],
    ['crm', 'u-3', 42.710528257130065],
    ['crm', 'Größe', 28.290445135701603],
    ['lake', 'u-1', 18.50644308045979],
    ['lake', 'u-2', 20.985453996888026],
    ['lake', 'u-3', 65.6247402830612],
  ])('of %s has user %s above %s percent, in every process and version', (id, userId, share) => {
    const ruleAt = (percent: number) => ruleFor({ sample: { percent, by: 'user' } }, { userId }, id)
    expect([ruleAt(share), ruleAt(share + 1e-9), ruleAt(100)]).toEqual([['sample', 'percent'], undefined, undefined])
  })

  it('decides by the anonymous id when there is no user id', () => {
    const filter: DestinationFilter = { sample: { percent: 38.4, by: 'user' } }
    expect(ruleFor(filter, { userId: undefined, anonymousId: 'anon-7' })).toEqual(['sample', 'percent'])
    expect(
      ruleFor({ sample: { percent: 38.5, by: 'user' } }, { userId: undefined, anonymousId: 'anon-7' }),
    ).toBeUndefined()
  })
})

it.each<[string, Parameters<typeof eventOf>[0], boolean]>([
  ['an event of a source', {}, false],
  ['a delete message', { message: messageOf({ type: 'delete' }) }, true],
  ['an audience change', { sourceId: audiencesSource, message: messageOf({ type: 'identify' }) }, true],
  ['a canary message', { sourceId: canarySource }, true],
])('%s: never filtered is %s', (_, event, expected) => {
  expect(isNeverFiltered(eventOf(event))).toBe(expected)
})
