import { describe, expect, it } from '@jest/globals'
import { pathWith, withoutEmpty } from '../../../../packages/console/src/api/query-parameters.ts'

describe('the path of a request', () => {
  it.each([
    ['/v1/changes', {}, '/v1/changes'],
    ['/v1/destinations', { limit: 100, q: '', state: undefined }, '/v1/destinations?limit=100'],
    ['/v1/destinations', { q: 'a b&c=d', dryRun: true }, '/v1/destinations?q=a+b%26c%3Dd&dryRun=true'],
  ])('%s with %j', (path, query, expected) => expect(pathWith(path, query)).toBe(expected))

  it('keeps only fields with a value', () => {
    expect(withoutEmpty({ a: '', b: undefined, c: 0, d: 'x' })).toEqual({ c: 0, d: 'x' })
  })
})
