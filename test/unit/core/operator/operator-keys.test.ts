import { expect, it } from '@jest/globals'
import { createFindOperatorKey } from '../../../../src/core/operator/operator-keys.ts'
import { Secret } from '../../../../src/core/secret.ts'

const find = createFindOperatorKey([
  { name: 'ada', role: 'operate', secrets: [new Secret('new-key'), new Secret('old-key')] },
  { name: 'dashboard', role: 'read', secrets: [new Secret('s3cret')] },
])
const ada = { name: 'ada', role: 'operate' }

it.each([
  ['new-key', ada],
  ['old-key', ada],
  ['s3cret', { name: 'dashboard', role: 'read' }],
  ['s3cre', undefined],
  ['s3cret ', undefined],
  ['', undefined],
])('%j is the key of %j', (given, key) => {
  expect(find(given)).toEqual(key)
})

it('finds no operator without keys', () => {
  expect(createFindOperatorKey([])('')).toBeUndefined()
})
