import { describe, expect, it } from '@jest/globals'
import { createSourceKeys, effectiveWriteKey, type RequestKeys } from '../../../../src/core/collector/source-keys.ts'
import { Secret } from '../../../../src/core/units.ts'

const keys = createSourceKeys([
  { id: 'web', writeKeys: [new Secret('web-key')] },
  { id: 'app', writeKeys: [new Secret('app:key')] },
  { id: 'tv', writeKeys: ['tv-1', 'tv-2', 'tv-3'].map(key => new Secret(key)) },
])

describe('whose key it is', () => {
  it.each([
    ['as it is', 'web-key', 'web'],
    ['with a secret behind it (Jitsu)', 'web-key:s3cret', 'web'],
    ['with an empty one', 'web-key:', 'web'],
    ['a key with a colon', 'app:key', 'app'],
    ['the last one of three', 'tv-3', 'tv'],
    ['a part of one', 'app', undefined],
    ['unknown', 'other', undefined],
    ['another case', 'WEB-KEY', undefined],
    ['masked', '***', undefined],
    ['empty', '', undefined],
    ['a name that every object has', 'constructor', undefined],
  ])('%s', (_, key, expected) => {
    expect(keys.sourceOf(key)).toBe(expected)
  })
})

describe('the key that counts', () => {
  const none: RequestKeys = { header: undefined, body: undefined, query: undefined }
  it.each<[string, Partial<RequestKeys>, string | undefined]>([
    ['the header beats the body, which Jitsu masks', { header: 'h', body: '***', query: 'q' }, 'h'],
    ['the body beats the query', { body: 'b', query: 'q' }, 'b'],
    ['the query, where nothing else says anything', { query: 'q' }, 'q'],
    ['empty ones say nothing', { header: '', body: '', query: 'q' }, 'q'],
    ['none', { header: '' }, undefined],
  ])('%s', (_, given, expected) => {
    expect(effectiveWriteKey({ ...none, ...given })).toBe(expected)
  })
})
