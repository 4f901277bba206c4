import { expect, it } from '@jest/globals'
import fc from 'fast-check'
import { parsePath } from '../../../../src/core/config-objects/parse-path.ts'
import { formatPath } from '../../../../src/core/settings/settings-problem.ts'

it('parses every formatted path as the path', () => {
  const key = fc.oneof(fc.string({ unit: 'binary' }), fc.stringMatching(/^[\w$-]{1,9}$/), fc.constant('***'))
  fc.assert(
    fc.property(fc.array(fc.oneof(key, fc.nat()), { maxLength: 6 }), path => {
      expect(parsePath(formatPath(path))).toEqual(path)
    }),
  )
})
