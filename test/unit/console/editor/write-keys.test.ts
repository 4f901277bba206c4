import { describe, expect, it } from '@jest/globals'
import {
  newWriteKey,
  withoutKey,
  withWriteKeys,
  writeKeysOf,
} from '../../../../packages/console/src/editor/write-keys.ts'

describe('the write keys of a document', () => {
  it.each<[name: string, writeKey: unknown, keys: string[]]>([
    ['absent', undefined, []],
    ['null', null, []],
    ['one', 'a', ['a']],
    ['several', ['a', 'b'], ['a', 'b']],
    ['not text', 17, ['']],
  ])('%s', (_, writeKey, keys) => expect(writeKeysOf({ writeKey })).toEqual(keys))
})

describe('a document with write keys', () => {
  it.each<[name: string, keys: string[], writeKey: unknown]>([
    ['none', [], undefined],
    ['an empty one', [''], undefined],
    ['one', ['a'], 'a'],
    ['several', ['a', ''], ['a', '']],
  ])('%s', (_, keys, writeKey) =>
    expect(withWriteKeys({ id: 'web', writeKey: '***' }, keys)).toEqual({ id: 'web', writeKey }),
  )

  it('keeps a list that becomes one key as text', () => {
    expect(withWriteKeys({ writeKey: ['a', 'b'] }, ['b'])).toEqual({ writeKey: 'b' })
  })
})

it.each<[name: string, keys: string[], removed: number, rest: string[]]>([
  ['the first of two', ['*** (5d41402a)', '*** (7d793037)'], 0, ['*** (7d793037)']],
  ['the last one', ['***', 'new'], 1, ['***']],
  ['a key before a mask without a fingerprint', ['***', '***', 'new'], 0, ['', 'new']],
])('removes %s', (_, keys, removed, rest) => expect(withoutKey(keys, removed)).toEqual(rest))

it('a new write key has 32 random bytes in base64url', () => {
  const keys = Array.from({ length: 50 }, newWriteKey)
  for (const key of keys) expect(Buffer.from(key, 'base64url').toString('base64url')).toBe(key)
  expect(new Set(keys.map(key => Buffer.from(key, 'base64url').length))).toEqual(new Set([32]))
  expect(new Set(keys).size).toBe(50)
})
