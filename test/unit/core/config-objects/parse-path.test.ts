import { expect, it } from '@jest/globals'
import { parsePath } from '../../../../src/core/config-objects/parse-path.ts'
import { formatPath } from '../../../../src/core/settings/settings-problem.ts'

it.each([
  [[]],
  [['id']],
  [['webhooks', 0, 'url']],
  [['webhooks', 12, 'headers', 'X-Api-Key']],
  [['webhooks', 0, 'headers', 'with space', 'a.b', 'a"]b\\']],
  [[0, 'id']],
  [['***', 'x']],
])('parses the formatted path %j', path => {
  expect(parsePath(formatPath(path))).toEqual(path)
})

it.each([
  ['the whole document', []],
  ['a[x].b', ['a']],
])('ignores the part of %j that is not a path', (text, path) => {
  expect(parsePath(text).slice(0, path.length)).toEqual(path)
})
