import { describe, expect, it } from '@jest/globals'
import { rotateKey, rotateSecret } from '../../../../src/core/operator/rotate-secret-or-key.ts'
import { durationMs, epochMs } from '../../../../src/core/time.ts'

const now = epochMs(Date.parse('2026-03-01T00:00:00Z'))
const [past, future] = ['2026-02-28T00:00:00.000Z', '2026-03-02T00:00:00.000Z']
const hour = durationMs(3_600_000)
const soon = '2026-03-01T01:00:00.000Z'

describe('rotateSecret', () => {
  it.each<[string, object, number, object | undefined]>([
    ['no secret', {}, hour, { sharedSecret: 'new' }],
    ['one secret', { sharedSecret: 'a' }, hour, { sharedSecret: ['a', 'new'], secretRotatesAt: soon }],
    ['a list of one', { sharedSecret: ['a'] }, hour, { sharedSecret: ['a', 'new'], secretRotatesAt: soon }],
    ['no overlap', { sharedSecret: 'a' }, 0, { sharedSecret: 'new' }],
    [
      'a rotation that has ended',
      { sharedSecret: ['a', 'b'], secretRotatesAt: past },
      hour,
      { sharedSecret: ['b', 'new'], secretRotatesAt: soon },
    ],
    ['a rotation in progress', { sharedSecret: ['a', 'b'], secretRotatesAt: future }, hour, undefined],
    ['two secrets without a time', { sharedSecret: ['a', 'b'] }, hour, undefined],
    ['no overlap during a rotation', { sharedSecret: ['a', 'b'], secretRotatesAt: future }, 0, { sharedSecret: 'new' }],
  ])('with %s', (_, document, overlap, expected) => {
    const rotated = rotateSecret({ id: 'crm', ...document }, { secret: 'new', now, overlap: durationMs(overlap) })
    expect(rotated.kind === 'rotated' ? rotated.document : undefined).toEqual(expected && { id: 'crm', ...expected })
  })
})

describe('rotateKey', () => {
  it.each<[unknown, number | undefined, unknown]>([
    [undefined, undefined, 'new'],
    ['a', undefined, ['new', 'a']],
    [['a', 'b'], undefined, ['new', 'a', 'b']],
    [['a', 'b', 'c'], undefined, undefined],
    [['a', 'b', 'c'], 2, ['new', 'a', 'b']],
    [['a', 'b', 'c'], 0, 'new'],
    ['a', 2, ['new', 'a']],
  ])('%j with keep %p', (writeKey, keep, expected) => {
    const rotated = rotateKey({ ...(writeKey !== undefined && { writeKey }) }, { key: 'new', keep })
    expect(rotated.kind === 'rotated' ? rotated.document['writeKey'] : undefined).toEqual(expected)
  })
})
