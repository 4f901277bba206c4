import { createHash } from 'node:crypto'
import { describe, expect, it } from '@jest/globals'
import { messageIdOf } from '../../../../src/core/message/identifiers.ts'

describe('messageIdOf', () => {
  const hashed = (id: string): string => `sha256:${createHash('sha256').update(id).digest('hex')}`
  it.each([
    ['absent: assigned', undefined, 'new-id'],
    ['null: assigned', null, 'new-id'],
    ['empty: assigned', '', 'new-id'],
    ['another type: assigned', { id: 1 }, 'new-id'],
    ['a number', 17, '17'],
    ['100 characters', 'x'.repeat(100), 'x'.repeat(100)],
    ['101 characters', 'x'.repeat(101), hashed('x'.repeat(101))],
    ['the ends of what is allowed', '!~', '!~'],
    ['a space', 'a b', hashed('a b')],
    ['a line break', 'a\r\nX-Header: b', hashed('a\r\nX-Header: b')],
    ['DEL', 'a\x7f', hashed('a\x7f')],
    ['more than ASCII', 'Ä', hashed('Ä')],
    ['a lone surrogate', '\ud83d', hashed('\ufffd')],
  ])('%s', (_, messageId, expected) => {
    expect(messageIdOf(messageId, () => 'new-id')).toBe(expected)
  })
})
