import { describe, expect, it } from '@jest/globals'
import { placesOf } from '../../../../packages/console/src/editor/problem-lines-in-json.ts'
import { otherProblems, problemsAt } from '../../../../packages/console/src/editor/problems-by-field.ts'

const problem = (path: string) => ({ path, message: 'is wrong' })
const document = { id: 'crm', webhooks: [{ url: 'a', headers: { 'X-A b': '1' } }], policy: { timeout: 3 } }
const text = JSON.stringify(document, null, 2)
const lineOf = (path: string): string | undefined =>
  text.split('\n')[(placesOf(text, [problem(path)])[0]?.line ?? 0) - 1]?.trim()

describe('the place of a problem', () => {
  it.each([
    ['', '{'],
    ['policy.timeout', '"timeout": 3'],
    ['webhooks[0].url', '"url": "a",'],
    ['webhooks[0].headers["X-A b"]', '"X-A b": "1"'],
    ['webhooks[0]', '{'],
    ['policy.window', '"policy": {'],
    ['webhooks[4].url', '"webhooks": ['],
    ['sources', '{'],
  ])('%j is at %s', (path, line) => expect(lineOf(path)).toBe(line))

  it('is where the value begins in the text', () => {
    const [place] = placesOf(text, [problem('policy.timeout')])
    expect(text.slice(place?.offset).startsWith('"timeout"')).toBe(true)
  })

  it('in a text that is not JSON is the beginning', () => {
    expect(placesOf('{', [problem('policy')])).toEqual([{ ...problem('policy'), line: 1, offset: 0 }])
  })
})

describe('the problems of a field', () => {
  const problems = ['policy.timeout', 'policy.timeouts', 'webhooks[0].url', 'webhooks', 'filter'].map(problem)

  it('are those at its path and below', () => {
    const at = (path: string) => problemsAt(problems, path).map(each => each.path)
    expect(at('policy.timeout')).toEqual(['policy.timeout'])
    expect(at('webhooks')).toEqual(['webhooks[0].url', 'webhooks'])
  })

  it('are not among the others', () => {
    expect(otherProblems(problems, ['policy.timeout', 'webhooks']).map(each => each.path)).toEqual([
      ...['policy.timeouts', 'filter'],
    ])
  })
})
