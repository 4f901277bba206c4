import { describe, expect, it } from '@jest/globals'
import {
  deleteMessagesOf,
  deletionOf,
  maxUserSourcePairs,
  maxUsers,
  parseDeletionRequest,
  parseDeletionText,
  suppressionsOf,
  unknownDestinationProblem,
} from '../../../../src/core/deletion/deletion-request.ts'
import { createRouting, placeholderDestination } from '../../../../src/core/delivery/route.ts'
import { forgedCanonicalFault } from '../../../../src/core/message/forged-canonical-event.ts'
import type { Destination } from '../../../../src/core/settings/settings.ts'
import { destinationOf, sourceOf, start } from '../../../support/builders.ts'

const routing = createRouting({
  sources: ['web', 'app', 'tv'].map(sourceOf),
  destinations: [
    destinationOf({ id: 'crm', sources: ['web', 'app'] }),
    destinationOf({ id: 'erp', sources: ['web'], enabled: false }),
    destinationOf({ id: 'ads', sources: ['web'], paused: true }),
  ],
})
const all = { userIds: ['ann', 'bob'], sources: undefined, suppress: false }

describe('a deletion request', () => {
  it.each<[string, unknown, object]>([
    ['users', { userIds: ['ann'] }, { userIds: ['ann'], sources: undefined, suppress: false }],
    ['each id counts once', { userIds: ['7', '7', 'ann', 'ann'] }, { ...all, userIds: ['7', 'ann'] }],
    ['of some sources', { userIds: ['ann'], sources: ['web', 'web'] }, { ...all, userIds: ['ann'], sources: ['web'] }],
    ['null means all sources', { userIds: ['ann'], sources: null }, { ...all, userIds: ['ann'] }],
    ['with a suppression', { userIds: ['ann'], suppress: true }, { ...all, userIds: ['ann'], suppress: true }],
  ])('%s', (_name, input, request) => {
    expect(parseDeletionRequest(input, routing)).toEqual({ kind: 'request', request })
  })

  const noUsers =
    "'userIds' must be a list of at least one user id. A user id is a string, or a whole number without a decimal point or exponent."
  const noSources = "'sources' must be a list of at least one source id; omit 'sources' for all sources."
  it.each<[string, unknown, string, string]>([
    ['a list as the body', ['ann'], 'invalid_body', 'The body must be a JSON object: send { "userIds": […] }.'],
    ['no users', {}, 'invalid_body', noUsers],
    ['an empty list', { userIds: [] }, 'invalid_body', noUsers],
    ['an empty id', { userIds: ['ann', ''] }, 'invalid_body', noUsers],
    ['a number whose digits are lost', { userIds: [7] }, 'invalid_body', noUsers],
    ['one id that is not a list', { userIds: 'ann' }, 'invalid_body', noUsers],
    [
      'an id longer than a message can have',
      { userIds: ['ann', 'é'.repeat(16_385)] },
      'invalid_body',
      "'userIds': a user id has 32770 bytes; the limit is 32768 bytes.",
    ],
    ['no sources', { userIds: ['ann'], sources: [] }, 'invalid_body', noSources],
    ['a source that is not an id', { userIds: ['ann'], sources: [7] }, 'invalid_body', noSources],
    ['suppress as text', { userIds: ['ann'], suppress: 'yes' }, 'invalid_body', "'suppress' must be true or false."],
    [
      'a misspelt key',
      { userIds: ['ann'], source: ['web'] },
      'invalid_body',
      '"source" is not a known key: the keys are userIds, sources, suppress.',
    ],
    [
      'an unknown source',
      { userIds: ['ann'], sources: ['web', 'wbe'] },
      'unknown_source',
      '\'sources\': no source has the id "wbe": use ids of configured sources.',
    ],
  ])('%s is refused', (_name, input, code, message) => {
    expect(parseDeletionRequest(input, routing)).toEqual({ kind: 'refused', code, message })
  })

  it('of too many users is refused', () => {
    const userIds = Array.from({ length: maxUsers + 1 }, (_, number) => String(number))
    expect(parseDeletionRequest({ userIds }, routing)).toMatchObject({
      code: 'invalid_body',
      message: expect.stringContaining('5001'),
    })
    expect(parseDeletionRequest({ userIds: userIds.slice(1) }, routing).kind).toBe('request')
  })

  it('of too many pairs of a user and a named source is refused', () => {
    const sources = Array.from({ length: 11 }, (_, number) => `source-${number}`)
    const many = createRouting({ sources: sources.map(sourceOf), destinations: [] })
    const userIds = Array.from({ length: maxUserSourcePairs / 10 }, (_, number) => String(number))
    expect(parseDeletionRequest({ userIds, sources }, many)).toEqual({
      kind: 'refused',
      code: 'invalid_body',
      message:
        "The request has 55000 pairs of a user and a source, but the maximum is 50000: send several requests with fewer users, or omit 'sources' to delete the users in all sources.",
    })
    expect(parseDeletionRequest({ userIds, sources: sources.slice(1) }, many).kind).toBe('request')
    expect(parseDeletionRequest({ userIds }, many).kind).toBe('request')
  })
})

describe('the affected sources', () => {
  it('are all sources with an enabled destination', () => {
    expect(deletionOf(all, 'd-1', start, routing)).toEqual({
      id: 'd-1',
      createdAt: start,
      users: 2,
      isSuppressed: false,
      sources: [
        { id: 'web', destinations: ['crm', 'ads'] },
        { id: 'app', destinations: ['crm'] },
      ],
    })
  })
  it('are those of the request, even without enabled destinations', () => {
    expect(deletionOf({ ...all, sources: ['app', 'tv'] }, 'd-1', start, routing).sources).toEqual([
      { id: 'app', destinations: ['crm'] },
      { id: 'tv', destinations: [] },
    ])
  })
})

describe('whether all destinations are known', () => {
  const held = placeholderDestination('lost')
  it.each<[string, Destination, number, string | undefined]>([
    ['when each file can be read', destinationOf(), 0, undefined],
    ['when a held destination has its sources', { ...held, sources: ['web'] }, 0, undefined],
    ['when a held destination without sources is disabled', { ...held, enabled: false }, 0, undefined],
    ['not when a held destination has no sources', held, 0, 'Hookline cannot read "sources" of the destination "lost"'],
    [
      'not when the id in a file cannot be read',
      destinationOf(),
      1,
      'Hookline cannot read the id of a destination from a file in destinationsFrom',
    ],
  ])('%s', (_name, destination, unnamed, problem) => {
    const excluded = { files: 1, unnamed }
    const given = createRouting({ sources: [sourceOf('web')], destinations: [destination], excluded })
    expect(unknownDestinationProblem(given)?.split(', so ')[0]).toBe(problem)
  })
})

describe('the text of a deletion request', () => {
  it('keeps the digits of whole numbers, also of those that a double cannot hold', () => {
    const text = '{"userIds":[7,"7",12345678901234567890,-0],"sources":[8],"suppress":true}'
    expect(parseDeletionText(text)).toEqual({
      kind: 'parsed',
      value: { userIds: ['7', '7', '12345678901234567890', '-0'], sources: [8], suppress: true },
    })
  })
  it.each(['1000.0', '1e3', '1.5', '1e400'])('has no user for the number %s', number => {
    const parsed = parseDeletionText(`{"userIds":[${number}]}`)
    expect(parsed).toEqual({ kind: 'parsed', value: { userIds: [null] } })
    const message = expect.stringMatching(/without a decimal point or exponent/)
    expect(parseDeletionRequest({ userIds: [null] }, routing)).toMatchObject({ kind: 'refused', message })
  })
  it.each(['[1]', '7', '{"userIds":7}', '{}'])('is parsed as usual: %s', text => {
    expect(parseDeletionText(text)).toEqual({ kind: 'parsed', value: JSON.parse(text) })
  })
  it('must be JSON', () => {
    expect(parseDeletionText('{"userIds":')).toMatchObject({ kind: 'rejected' })
  })
})

describe('delete messages', () => {
  const request = { ...all, sources: ['web', 'tv', 'app'] }
  const deletes = [...deleteMessagesOf(request, deletionOf(request, 'd-1', start, routing))]

  it('are one for each user and each affected source with a destination', () => {
    expect(deletes.map(({ sourceId, message }) => `${message.userId} ${sourceId}`)).toEqual([
      'ann web',
      'ann app',
      'bob web',
      'bob app',
    ])
  })
  it('are events of their source, for all of its destinations', () => {
    expect(deletes[0]).toMatchObject({
      sourceId: 'web',
      destinationId: undefined,
      receivedAt: start,
      canonical: true,
      origin: { kind: 'deletion', id: 'd-1', version: undefined, destinations: ['crm', 'ads'] },
      message: { type: 'delete', userId: 'ann', timestamp: start, traits: undefined },
    })
  })
  it('have their own ids, the same when they are created again', () => {
    const ids = deletes.map(({ message }) => message.messageId)
    expect(new Set(ids).size).toBe(4)
    expect(
      [...deleteMessagesOf(request, deletionOf(request, 'd-1', start, routing))].map(event => event.message.messageId),
    ).toEqual(ids)
    const [other] = deleteMessagesOf(request, deletionOf(request, 'd-2', start, routing))
    expect(ids).not.toContain(other?.message.messageId)
  })
  it('are several for a source with more than 1,000 destinations, and the dispatcher accepts each of them', () => {
    const destinations = Array.from({ length: 100_000 }, (_, number) => String(number).padEnd(63, 'x'))
    const record = {
      id: 'd-1',
      createdAt: start,
      users: 1,
      isSuppressed: false,
      sources: [{ id: 'web', destinations }],
    }
    const events = [...deleteMessagesOf({ ...request, userIds: ['u'.repeat(32 * 1024)] }, record)]
    expect(events.flatMap(({ origin }) => origin?.destinations ?? [])).toEqual(destinations)
    expect(new Set(events.map(({ message }) => message.messageId)).size).toBe(100)
    expect(new Set(events.map(forgedCanonicalFault))).toEqual(new Set([undefined]))
  })
})

describe('suppressions', () => {
  it('are one for all sources', () => {
    expect(suppressionsOf(all, start)).toEqual([{ source: undefined, deletedAt: start, isSuppressed: false }])
  })
  it('are one for each named source, and one for the audiences', () => {
    expect(suppressionsOf({ ...all, sources: ['web', 'app'], suppress: true }, start)).toEqual(
      ['web', 'app', 'hookline.audiences'].map(source => ({ source, deletedAt: start, isSuppressed: true })),
    )
  })
})
