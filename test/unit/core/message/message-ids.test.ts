import { createHash } from 'node:crypto'
import { describe, expect, it } from '@jest/globals'
import {
  messageIdAt,
  messageIdOf,
  storedMessageId,
} from '../../../../src/core/message/message-ids-and-required-identifiers.ts'

const hashed = (id: string): string => `sha256:${createHash('sha256').update(id).digest('hex')}`
const ownCanary = 'canary-4f1c6e0a-52b2-4c3e-9d4e-7a1f0b6c2d11'

describe('messageIdOf', () => {
  it.each([
    ['absent: assigned', undefined, 'new-id'],
    ['null: assigned', null, 'new-id'],
    ['empty: assigned', '', 'new-id'],
    ['another type: assigned', { id: 1 }, 'new-id'],
    ['a number', 17, '17'],
    ['100 characters', 'x'.repeat(100), 'x'.repeat(100)],
    ['101 characters', 'x'.repeat(101), hashed('x'.repeat(101))],
    ['the first and last allowed characters', '!~', '!~'],
    ['a space', 'a b', hashed('a b')],
    ['a line break', 'a\r\nX-Header: b', hashed('a\r\nX-Header: b')],
    ['DEL', 'a\x7f', hashed('a\x7f')],
    ['a character beyond ASCII', 'Ä', hashed('Ä')],
    ['a UUID of an SDK', '4f1c6e0a-52b2-4c3e-9d4e-7a1f0b6c2d11', '4f1c6e0a-52b2-4c3e-9d4e-7a1f0b6c2d11'],
    ['reserved: of a membership update', `audience-${'0a'.repeat(20)}`, hashed(`audience-${'0a'.repeat(20)}`)],
    ['reserved: of a delete', `delete-${'0a'.repeat(20)}`, hashed(`delete-${'0a'.repeat(20)}`)],
    ['reserved: of a notice', `notice-${'0a'.repeat(20)}`, hashed(`notice-${'0a'.repeat(20)}`)],
    ['reserved: of a canary message', 'canary-1', hashed('canary-1')],
    ['reserved: a position', 'hookline.events/0/5', hashed('hookline.events/0/5')],
    [
      'reserved: a position, with another prefix',
      'eu-1.hook_line.events/11/9007199254740993',
      hashed('eu-1.hook_line.events/11/9007199254740993'),
    ],
    ['not reserved: another hash', `audience-${'0a'.repeat(19)}`, `audience-${'0a'.repeat(19)}`],
    ['not reserved: a prefix before it', `my-audience-${'0a'.repeat(20)}`, `my-audience-${'0a'.repeat(20)}`],
    ['not reserved: another path', 'orders/0/5', 'orders/0/5'],
    ['a lone surrogate', '\ud83d', hashed('\ufffd')],
  ])('%s', (_, messageId, expected) => {
    expect(messageIdOf(messageId, () => 'new-id')).toBe(expected)
  })
})

describe('a message id that an operator searches for', () => {
  it.each<[name: string, id: string, stored: string]>([
    ['of a sender', 'order-17', 'order-17'],
    ['over 100 characters', 'a'.repeat(101), hashed('a'.repeat(101))],
    ['reserved, but not of the form of a canary message', 'canary-x', hashed('canary-x')],
    ['of a canary message', ownCanary, ownCanary],
    ['of a membership update', `audience-${'0a'.repeat(20)}`, `audience-${'0a'.repeat(20)}`],
    ['of an event without an id', 'hookline.events/0/5', 'hookline.events/0/5'],
  ])('%s', (_, id, stored) => expect(storedMessageId(id)).toBe(stored))
})

it.each<[characters: number, toId: (position: string) => string]>([
  [100, position => position],
  [101, hashed],
])('the id of an event without one is its position or a hash: %i characters', (characters, toId) => {
  const topic = `${'p'.repeat(characters - '.events/3/41'.length)}.events`
  const id = messageIdAt({ topic, partition: 3, offset: 41 })
  expect(id).toBe(toId(`${topic}/3/41`))
  expect(storedMessageId(`${topic}/3/41`)).toBe(id)
})
