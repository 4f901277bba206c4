import { describe, expect, it } from '@jest/globals'
import { identifyOf } from '../../../../src/core/audience/identify-message.ts'
import { deleteMessagesOf } from '../../../../src/core/deletion/deletion-request.ts'
import { bodyOf } from '../../../../src/core/delivery/payload.ts'
import type { JsonText } from '../../../../src/core/message/canonical-json-text.ts'
import type { Event } from '../../../../src/core/message/event.ts'
import { forgedCanonicalFault } from '../../../../src/core/message/forged-canonical-event.ts'
import type { Message } from '../../../../src/core/message/message.ts'
import { type EpochMs, epochMs } from '../../../../src/core/time.ts'
import { eventOf, messageOf, start } from '../../../support/builders.ts'

const json = (text: string): JsonText => text as JsonText
const versioned = (version: number): Event => ({ ...audience, origin: { ...audience.origin!, version } })
const audience = identifyOf(
  { audience: 'Vip', userId: 'u', destination: 'crm' },
  'vip',
  { version: 1, value: json('true') },
  start,
)
const request = { userIds: ['u'], sources: undefined, suppress: false }
const record = {
  id: 'd',
  createdAt: start,
  users: 1,
  isSuppressed: false,
  sources: [{ id: 'web', destinations: ['crm'] }],
}
const [deletion] = deleteMessagesOf(request, record) as unknown as [Event]
const canaryMessage = eventOf({
  sourceId: 'hookline.canary',
  destinationId: 'crm',
  message: messageOf({ userId: undefined }),
})
const message = (given: Partial<Message>): Event => eventOf({ message: messageOf(given) })

describe('accepts what the writers of Hookline produce', () => {
  it.each<[string, Event]>([
    ['a track', eventOf()],
    ['an identify of an audience', audience],
    ['a delete', deletion],
    ['a canary message', canaryMessage],
    ['all parts', message({ type: 'page', name: 'n', properties: json('{"name":null}'), context: json('{"a":1}') })],
    ['integrations that switch off', message({ integrations: json('{"All":false}') })],
  ])('%s', (_, event) => {
    expect(forgedCanonicalFault(event)).toBeUndefined()
  })
})

describe('marked as canonical, but', () => {
  it.each<[string, Event, RegExp]>([
    ['another type', message({ type: 'trick' as never }), /'trick' is not a type/],
    ['no message id', message({ messageId: '' }), /message id/],
    ['a message id with a line feed', message({ messageId: 'a\r\nX-Admin: 1' }), /message id/],
    ['a message id of 101 characters', message({ messageId: 'm'.repeat(101) }), /message id/],
    ['a time after 9999', message({ timestamp: epochMs(253_402_300_800_000) }), /timestamp/],
    ['a time that is not a whole number', message({ timestamp: 1.5 as EpochMs }), /timestamp/],
    ['a time received before 0001', eventOf({ receivedAt: epochMs(-1e15) }), /receivedAt/],
    ['a body of 300 KB', message({ properties: json(`{"x":"${'y'.repeat(300_000)}"}`) }), /more than/],
    ['a list', message({ properties: json('[1]') }), /its 'properties'/],
    ['half an object', message({ context: json('{"a":1') }), /its 'context'/],
    ['nothing', message({ traits: json('') }), /its 'traits'/],
    ['integrations that cannot be parsed', message({ integrations: json('{"All":false,}') }), /its 'integrations'/],
    ['properties that cannot be parsed', message({ type: 'page', properties: json('{"name":}') }), /its 'properties'/],
    ['a delete without a request', message({ type: 'delete' }), /without the field 'origin'/],
    ['a deletion that is a track', { ...deletion, message: messageOf() }, /but its message type is 'track'/],
    [
      'a deletion of audiences',
      { ...deletion, sourceId: 'hookline.audiences' },
      /deletions never have the internal source hookline.audiences/,
    ],
    [
      'a deletion for thousands',
      { ...deletion, origin: { ...deletion.origin!, destinations: Array(10_001).fill('') } },
      /names more than 10000 destinations/,
    ],
    ['an audience without an origin', { ...audience, origin: undefined }, /but the event has no field 'origin'/],
    [
      'an audience of another source',
      { ...audience, sourceId: 'web' },
      /is not an identify message from hookline.audiences/,
    ],
    ['an audience for all destinations', { ...audience, destinationId: undefined }, /one destination/],
    [
      'traits of an audience that cannot be parsed',
      { ...audience, message: { ...audience.message, traits: json('{]}') } },
      /traits/,
    ],
    [
      'traits as deep as a stack',
      {
        ...audience,
        message: { ...audience.message, traits: json(`{"a":${'['.repeat(60_000)}${']'.repeat(60_000)}}`) },
      },
      /traits/,
    ],
    [
      'a long user id',
      { ...audience, message: { ...audience.message, userId: 'u'.repeat(40_000) } },
      /its user id has/,
    ],
    [
      'a long id of a deletion',
      { ...deletion, origin: { ...deletion.origin!, id: 'd'.repeat(1_001) } },
      /more than 1000/,
    ],
    ['a version that is too high', versioned(2 ** 53 - 2), /no valid version/],
    ['a version with a fraction', versioned(1.5), /no valid version/],
    ['an origin without a user', { ...audience, message: { ...audience.message, userId: undefined } }, /no user id/],
    ['a canary message without a destination', { ...canaryMessage, destinationId: undefined }, /with one destination/],
    [
      'a notice for all destinations',
      { ...canaryMessage, sourceId: 'hookline.operations', destinationId: undefined },
      /with one destination/,
    ],
    [
      'destination facts for one destination',
      { ...canaryMessage, sourceId: 'hookline.facts' },
      /is not a track message without a destination/,
    ],
    [
      'another origin',
      { ...audience, origin: { ...audience.origin!, kind: 'x' as never } },
      /its 'origin' has the unknown kind 'x'/,
    ],
  ])('%s', (_, event, fault) => {
    expect(forgedCanonicalFault(event)).toMatch(fault)
  })
})

it('every accepted event has a body', () => {
  const text = bodyOf(message({ type: 'screen', category: 'c', properties: json('{"category":1}') }).message, {
    anonymousId: 'always',
  })
  expect(JSON.parse(text)).toMatchObject({ properties: { category: 1 } })
})
