import { readFileSync } from 'node:fs'
import { describe, expect, it } from '@jest/globals'
import { problemStatus } from '../../../../src/adapters/http/answers.ts'
import { openApiDocument } from '../../../../src/adapters/http/openapi.ts'
import { rejectionCodes } from '../../../../src/core/message/message.ts'

const read = (path: string): string => readFileSync(new URL(`../../../../${path}`, import.meta.url), 'utf8')
const reference = read('docs/reference/tracking-api.md')
const section = (title: string): string => reference.split(/^## /m).find(each => each.startsWith(`${title}\n`)) ?? ''
/** Everything in backquotes in the first column of a table. */
const firstColumn = (title: string): string[] =>
  section(title)
    .split('\n')
    .filter(line => line.startsWith('| `'))
    .flatMap(line => [...(line.split(' | ')[0] ?? '').matchAll(/`([^`]+)`/g)].map(([, code = '']) => code))

describe('docs/reference/tracking-api.md', () => {
  it('has the paths of the OpenAPI document, and no others', () => {
    const { paths } = openApiDocument() as { paths: Record<string, object> }
    const described = Object.entries(paths).flatMap(([path, operations]) => Object.keys(operations).map(() => path))
    const shown = firstColumn('Paths')
      .map(text => text.replace(/^(POST|GET) /, ''))
      .filter(path => path !== 'OPTIONS')
    expect(shown.sort()).toEqual(described.sort())
  })

  it('has every code with its status, but for those of the operators’ API', () => {
    const rows = [...section('Answers').matchAll(/^\| (\d{3}) \| `(\w+)` \|/gm)].map(([, status, code]) => [
      code,
      Number(status),
    ])
    const ofOperators = ['unknown_source', 'invalid_operator_key', 'unknown_audience']
    expect(Object.fromEntries(rows)).toEqual(
      Object.fromEntries(Object.entries(problemStatus).filter(([code]) => !ofOperators.includes(code))),
    )
  })

  it('has every code of a rejected message', () => {
    expect(firstColumn('Rejected messages').sort()).toEqual([...rejectionCodes].sort())
  })
})
