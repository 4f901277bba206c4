import { describe, expect, it } from '@jest/globals'
import { etagOf, type PreconditionRead, preconditionOf } from '../../../../src/core/operator/etag-precondition.ts'

const rows: readonly [
  ifMatch: string | undefined,
  ifNoneMatch: string | undefined,
  expected: Partial<PreconditionRead>,
][] = [
  [undefined, undefined, { kind: 'none' }],
  ['"3"', undefined, { kind: 'version', version: 3 }],
  [' "12" ', undefined, { kind: 'version', version: 12 }],
  ['*', undefined, { kind: 'exists' }],
  [undefined, '*', { kind: 'absent' }],
  ['3', undefined, { kind: 'invalid', header: 'If-Match' }],
  ['', undefined, { kind: 'invalid', header: 'If-Match' }],
  ['W/"3"', undefined, { kind: 'invalid', header: 'If-Match' }],
  ['"3", "4"', undefined, { kind: 'invalid', header: 'If-Match' }],
  ['"abc"', undefined, { kind: 'invalid', header: 'If-Match' }],
  ['"1234567890123456"', undefined, { kind: 'invalid', header: 'If-Match' }],
  [undefined, '"3"', { kind: 'invalid', header: 'If-None-Match' }],
  ['"3"', '*', { kind: 'invalid', header: 'If-None-Match' }],
]

describe('preconditionOf', () => {
  it.each(rows)('If-Match: %s, If-None-Match: %s', (ifMatch, ifNoneMatch, expected) => {
    expect(preconditionOf({ ifMatch, ifNoneMatch })).toMatchObject(expected)
  })

  it('reads the entity tag of a version', () => {
    for (const version of [0, 1, 42, 999_999_999_999_999])
      expect(preconditionOf({ ifMatch: etagOf(version), ifNoneMatch: undefined })).toEqual({ kind: 'version', version })
  })
})
