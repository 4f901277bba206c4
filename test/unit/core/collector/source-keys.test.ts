import { describe, expect, it } from '@jest/globals'
import { createSourceKeys, effectiveWriteKey, type RequestKeys } from '../../../../src/core/collector/source-keys.ts'
import { Secret } from '../../../../src/core/secret.ts'

const keys = createSourceKeys([
  { id: 'web', writeKeys: [new Secret('web-key')] },
  { id: 'app', writeKeys: [new Secret('app:key')] },
  { id: 'tv', writeKeys: ['tv-1', 'tv-2', 'tv-3'].map(key => new Secret(key)) },
])

describe('the source of a key', () => {
  it.each([
    ['a known key', 'web-key', 'web'],
    ['a key followed by a secret (Jitsu)', 'web-key:s3cret', 'web'],
    ['a key followed by an empty secret', 'web-key:', 'web'],
    ['a key with a colon', 'app:key', 'app'],
    ['the last of three keys', 'tv-3', 'tv'],
    ['a part of a key', 'app', undefined],
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
    ['the header rather than the body, which Jitsu masks', { header: 'h', body: '***', query: 'q' }, 'h'],
    ['the body rather than the query', { body: 'b', query: 'q' }, 'b'],
    ['the query when header and body have none', { query: 'q' }, 'q'],
    ['empty keys are ignored', { header: '', body: '', query: 'q' }, 'q'],
    ['none', { header: '' }, undefined],
  ])('%s', (_, given, expected) => {
    expect(effectiveWriteKey({ ...none, ...given })).toBe(expected)
  })
})
