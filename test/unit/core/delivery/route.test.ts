import { describe, expect, it } from '@jest/globals'
import {
  createRouting,
  isOfEarlierDestination,
  reportedDestinations,
  route,
  routeRetry,
} from '../../../../src/core/delivery/route.ts'
import type { JsonText } from '../../../../src/core/message/canonical-json-text.ts'
import type { Event } from '../../../../src/core/message/event.ts'
import {
  audiencesSource,
  canarySource,
  operationsSource,
} from '../../../../src/core/message/own-event-builder-and-source-ids.ts'
import { type EpochMs, epochMs } from '../../../../src/core/time.ts'
import { destinationOf, eventOf, messageOf, sourceOf, start } from '../../../support/builders.ts'

const crm = destinationOf({ id: 'crm', sources: ['web', 'ios'] })
const lake = destinationOf({ id: 'lake', sources: ['web'] })
const off = destinationOf({ id: 'off', sources: ['web', 'old'], enabled: false })
const routing = createRouting({
  sources: ['web', 'ios', 'old', 'lonely'].map(sourceOf),
  destinations: [crm, off, lake],
})

/** The ids of the destinations and the reasons of the drops, or the reason of a rejection. */
function summary(event: Event) {
  const routed = route(event, routing)
  if (routed.kind === 'dead_lettered') return routed.reason
  return { to: routed.destinations.map(destination => destination.id), drops: routed.drops.map(({ reason }) => reason) }
}

describe('an event goes to the destinations of its source', () => {
  it.each<[string, Partial<Event>, ReturnType<typeof summary>]>([
    ['all that are enabled, in configuration order', {}, { to: ['crm', 'lake'], drops: ['disabled'] }],
    ['only those connected to it', { sourceId: 'ios' }, { to: ['crm'], drops: [] }],
    ['none enabled', { sourceId: 'old' }, { to: [], drops: ['disabled'] }],
    ['none connected', { sourceId: 'lonely' }, { to: [], drops: ['no_destination'] }],
    ['a source that is not configured', { sourceId: 'gone' }, 'unknown_source'],
  ])('%s', (_, event, expected) => {
    expect(summary(eventOf(event))).toEqual(expected)
  })
})

describe('an event that names its destination', () => {
  it.each<[string, Partial<Event>, ReturnType<typeof summary>]>([
    [
      'of audiences: goes there, connected or not',
      { sourceId: audiencesSource, destinationId: 'lake' },
      { to: ['lake'], drops: [] },
    ],
    [
      'of audiences: not while it is disabled',
      { sourceId: audiencesSource, destinationId: 'off' },
      { to: [], drops: ['disabled'] },
    ],
    ['of audiences: not when it is gone', { sourceId: audiencesSource, destinationId: 'gone' }, 'unknown_destination'],
    [
      'a canary message: to the destination that it names',
      { sourceId: canarySource, destinationId: 'lake' },
      { to: ['lake'], drops: [] },
    ],
    [
      'a canary message: not when its destination is not configured',
      { sourceId: canarySource, destinationId: 'gone' },
      'unknown_destination',
    ],
    ['of audiences: must name one', { sourceId: audiencesSource }, { to: [], drops: ['no_destination'] }],
    ['of another source: goes to that one only', { destinationId: 'lake' }, { to: ['lake'], drops: [] }],
    [
      'of another source: is dropped when it is not connected to it',
      { sourceId: 'ios', destinationId: 'lake' },
      { to: [], drops: ['no_destination'] },
    ],
    ['of an unknown source', { sourceId: 'gone', destinationId: 'crm' }, 'unknown_source'],
  ])('%s', (_, event, expected) => {
    expect(summary(eventOf(event))).toEqual(expected)
  })
})

describe('a deletion: every awaited destination gets a result', () => {
  const awaiting = (destinations: readonly string[], sourceId = 'web') =>
    route(eventOf({ sourceId, origin: { kind: 'deletion', id: 'd-1', version: undefined, destinations } }), routing)

  it.each<[string, awaited: string[], source: string, to: string[], drops: string[]]>([
    ['connected as when it was accepted', ['crm', 'lake'], 'web', ['crm', 'lake'], ['off disabled']],
    ['one was disconnected or removed', ['crm', 'gone'], 'ios', ['crm'], ['gone no_destination']],
    ['one was switched off', ['off'], 'old', [], ['off disabled']],
    ['one was switched off, one is gone', ['off', 'crm'], 'old', [], ['off disabled', 'crm no_destination']],
    ['none is connected', ['crm', 'gone'], 'lonely', [], ['crm no_destination', 'gone no_destination']],
    ['a destination connected later gets it too', [], 'ios', ['crm'], []],
  ])('%s', (_, awaited, source, to, drops) => {
    expect(awaiting(awaited, source)).toMatchObject({
      kind: 'deliver',
      destinations: to.map(id => ({ id })),
      drops: drops.map(text => ({ destination: text.split(' ')[0], reason: text.split(' ')[1] })),
    })
  })
  it('is several messages, each for other destinations, when the source has more than 1,000', () => {
    const many = Array.from({ length: 1_001 }, (_, index) => destinationOf({ id: `d${index}`, sources: ['web'] }))
    const large = createRouting({ sources: [sourceOf('web')], destinations: many })
    const to = (destinations: readonly string[]) => {
      const routed = route(
        eventOf({ sourceId: 'web', origin: { kind: 'deletion', id: 'd-1', version: undefined, destinations } }),
        large,
      )
      return routed.kind === 'deliver' && routed.destinations.map(({ id }) => id)
    }
    const ids = many.map(({ id }) => id)
    expect([to(ids.slice(0, 1_000)), to(ids.slice(1_000))]).toEqual([ids.slice(0, 1_000), ['d1000']])
  })
  it('goes to no destination beyond the one that a replay names', () => {
    const origin = { kind: 'deletion' as const, id: 'd-1', version: undefined, destinations: ['crm', 'gone'] }
    expect(summary(eventOf({ sourceId: 'ios', destinationId: 'crm', origin }))).toEqual({ to: ['crm'], drops: [] })
  })
  it('awaits all of its destinations when its source was removed', () => {
    const event = eventOf({
      origin: { kind: 'deletion', id: 'd-1', version: undefined, destinations: ['crm', 'gone'] },
    })
    expect(reportedDestinations(event)).toEqual(['crm', 'gone'])
    expect(reportedDestinations({ ...event, destinationId: 'crm' })).toEqual(['crm'])
    expect(reportedDestinations({ ...event, origin: undefined })).toEqual([])
  })
})

describe('integrations', () => {
  it.each<[string | undefined, boolean]>([
    [undefined, true],
    ['{}', true],
    ['{"Webhooks":true}', true],
    ['{"Webhooks":true,"All":false}', true],
    ['{"Webhooks":{"any":false},"All":false}', true],
    ['{"Webhooks":[],"All":false}', true],
    ['{"Webhooks":[1],"All":false}', false],
    ['{"Webhooks":false}', false],
    ['{"Webhooks":false,"All":true}', false],
    ['{"webhooks":false}', true],
    ['{"Webhooks":null,"All":false}', false],
    ['{"Webhooks":"true","All":false}', false],
    ['{"Webhooks":"false"}', true],
    ['{"Webhooks":1,"All":false}', false],
    ['{"Webhooks":0}', true],
    ['{"All":false}', false],
    ['{"All":false,"Salesforce":true}', false],
    ['{"All":"false"}', true],
    ['{"All":null,"all":false}', true],
    ['{"all":false}', false],
    ['{"ALL":false}', false],
    ['{"all":true,"ALL":false}', true],
    ['{"All":true,"all":false}', true],
    ['{"aLL":false}', true],
    ['{"Salesforce":false}', true],
  ])('%s: %s', (integrations, selected) => {
    const event = eventOf({
      sourceId: 'ios',
      message: messageOf({ integrations: integrations as JsonText | undefined }),
    })
    expect(summary(event)).toEqual(selected ? { to: ['crm'], drops: [] } : { to: [], drops: ['not_selected'] })
  })

  it('a disabled destination is counted as disabled, the others as not selected', () => {
    const event = eventOf({ message: messageOf({ integrations: '{"All":false}' as JsonText }) })
    expect(summary(event)).toEqual({ to: [], drops: ['not_selected', 'disabled', 'not_selected'] })
  })
})

describe('a filter', () => {
  const picky = destinationOf({ id: 'picky', sources: ['web', 'old'], filter: { types: ['page'] } })
  const filtering = createRouting({ sources: ['web', 'old'].map(sourceOf), destinations: [crm, picky, off] })
  const filtered = { reason: 'filtered', destination: 'picky', rule: ['types'] }

  it.each<[string, Partial<Event>, to: string[], drops: object[]]>([
    ['stops an event for its destination only', {}, ['crm'], [filtered, { reason: 'disabled', destination: 'off' }]],
    ['lets an event pass', { message: messageOf({ type: 'page' }) }, ['crm', 'picky'], [{ reason: 'disabled' }]],
    ['stops an event that names the destination', { destinationId: 'picky' }, [], [filtered]],
    ['lets an audience change pass', { sourceId: audiencesSource, destinationId: 'picky' }, ['picky'], []],
    [
      'comes after the choice of the sender',
      { sourceId: 'old', message: messageOf({ integrations: '{"All":false}' as JsonText }) },
      [],
      [{ reason: 'not_selected', destination: 'picky' }, { reason: 'disabled' }],
    ],
  ])('%s', (_, event, to, drops) => {
    expect(route(eventOf(event), filtering)).toMatchObject({
      kind: 'deliver',
      destinations: to.map(id => ({ id })),
      drops,
    })
  })

  it('does not decide about a waiting record', () => {
    expect(routeRetry('picky', filtering)).toEqual({ kind: 'deliver', destination: picky })
  })
})

describe('a waiting record', () => {
  it.each([
    ['goes to its destination', 'crm', { kind: 'deliver', destination: crm }],
    ['is dropped while that is disabled', 'off', { kind: 'dropped', reason: 'disabled', destination: off }],
    ['is a dead letter when that is gone', 'gone', { kind: 'dead_lettered', reason: 'unknown_destination' }],
  ])('%s', (_, id, expected) => {
    expect(routeRetry(id, routing)).toEqual(expected)
  })

  it('is delivered although its source was removed', () => {
    const reloaded = createRouting({ sources: [], destinations: [crm] })
    expect(routeRetry('crm', reloaded)).toEqual({ kind: 'deliver', destination: crm })
  })
})

describe('a delivery belongs to an earlier destination with the same id', () => {
  const before = epochMs(start - 1)
  it.each<[string, boolean, createdAt: EpochMs | undefined, sourceId: string, startedAt: EpochMs]>([
    ['if it started before the creation, and its source is not connected', true, start, 'shop', before],
    ['if its source does not exist, too', true, start, 'gone', before],
    ['if it is an audience change from before the creation', true, start, audiencesSource, before],
    ['if it is a canary message from before the creation', true, start, canarySource, before],
    ['if it is a notice from before the creation', true, start, operationsSource, before],
    ['but not if its source is connected', false, start, 'ios', before],
    ['but not if it started with the creation', false, start, 'shop', start],
    ['but not if it started later: sources may change', false, epochMs(start - 2), 'shop', before],
    ['but not if it is a later audience change', false, start, audiencesSource, start],
    ['but not if the creation time is unknown', false, undefined, 'shop', before],
  ])('%s', (_, expected, createdAt, sourceId, startedAt) => {
    const destination = { sources: crm.sources, ...(createdAt !== undefined && { createdAt }) }
    expect(isOfEarlierDestination(destination, sourceId, startedAt)).toBe(expected)
  })
})

it('does not change when the lists behind it change', () => {
  const destinations = [crm]
  const made = createRouting({ sources: [sourceOf('ios')], destinations })
  destinations.push(lake)
  expect([...made.destinations.keys()]).toEqual(['crm'])
  expect(made.bySource.get('ios')).toEqual([crm])
})

describe('while a file of destinationsFrom is unreadable', () => {
  const incomplete = createRouting({ sources: [sourceOf('web')], destinations: [], excluded: { files: 1, unnamed: 1 } })
  const held = { kind: 'deliver', destination: { id: 'lost', paused: true, isPlaceholder: true, webhooks: [] } }

  it('a waiting record of an unknown destination keeps waiting', () => {
    expect(routeRetry('lost', incomplete)).toMatchObject(held)
  })

  it('an event that names an unknown destination waits', () => {
    const routed = route(eventOf({ sourceId: 'web', destinationId: 'lost' }), incomplete)
    expect(routed).toMatchObject({ kind: 'deliver', destinations: [held.destination], drops: [] })
  })

  it('the destination counts as unknown when all files are readable again', () => {
    const whole = createRouting({ sources: [sourceOf('web')], destinations: [], excluded: { files: 1, unnamed: 0 } })
    expect(routeRetry('lost', whole)).toEqual({ kind: 'dead_lettered', reason: 'unknown_destination' })
  })
})
