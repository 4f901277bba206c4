import { readFileSync } from 'node:fs'
import { describe, expect, it } from '@jest/globals'
import { documentPath } from '../../../../src/adapters/http/api-paths-and-methods.ts'
import { operatorDocument } from '../../../../src/adapters/http/openapi-operator.ts'
import { openApiDocument } from '../../../../src/adapters/http/openapi-tracking.ts'
import { problemStatus, sessionStatus } from '../../../../src/adapters/http/response-codes-and-bodies.ts'
import { rejectionCodes } from '../../../../src/core/message/message-rejection.ts'
import { objectRefusalStatus } from '../../../../src/core/operator/object-refusal.ts'

const read = (path: string): string => readFileSync(new URL(`../../../../${path}`, import.meta.url), 'utf8')
const pages = { tracking: read('docs/reference/tracking-api.md'), operators: read('docs/reference/operator-api.md') }
type Page = keyof typeof pages
const section = (page: Page, title: string): string =>
  pages[page].split(/^## /m).find(each => each.startsWith(`${title}\n`)) ?? ''
const firstColumn = (page: Page, title: string): string[] =>
  section(page, title)
    .split('\n')
    .filter(line => line.startsWith('| `'))
    .flatMap(line => [...(line.split(' | ')[0] ?? '').matchAll(/`([^`]+)`/g)].map(([, code = '']) => code))
const answers = (page: Page): Record<string, number> =>
  Object.fromEntries(
    [...section(page, 'Responses').matchAll(/^\| (\d{3}) \| `(\w+)` \|/gm)].map(([, status, code]) => [
      code,
      Number(status),
    ]),
  )

interface Operation {
  readonly tags: readonly string[]
  readonly responses: Readonly<Record<string, { readonly $ref?: string }>>
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly responses: Readonly<Record<string, { readonly content?: object }>> }
}
const document = openApiDocument() as Document
const operationsIn = ({ paths }: Document) =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.values(methods).map(operation => ({ path, operation, isOperators: operation.tags.includes('operators') })),
  )
const operations = operationsIn(document)
const operatorPaths = operationsIn(operatorDocument() as Document)
  .filter(({ path }) => path !== documentPath)
  .map(({ path }) => path)
const ofOperators = [
  'unknown_source',
  'invalid_operator_key',
  'forbidden',
  'unknown_audience',
  ...Object.keys(sessionStatus),
]

describe.each(['tracking', 'operators'] as const)('docs/reference: the page of the %s API', page => {
  it('has the paths of the OpenAPI document, and no others', () => {
    const ofTracking = operations.filter(({ isOperators }) => !isOperators).map(({ path }) => path)
    const shown = firstColumn(page, 'Paths')
      .map(text => text.replace(/^(POST|GET) /, ''))
      .filter(path => path.startsWith('/'))
    expect(shown.sort()).toEqual([...new Set(page === 'operators' ? operatorPaths : ofTracking)].sort())
  })

  it('has codes with their statuses', () => {
    expect({ ...objectRefusalStatus, ...problemStatus }).toMatchObject(answers(page))
  })
})

describe('docs/reference/tracking-api.md', () => {
  it('has every code except those of the operator API', () => {
    const codes = Object.keys(problemStatus).filter(code => !ofOperators.includes(code))
    expect(Object.keys(answers('tracking')).sort()).toEqual(codes.sort())
  })

  it('has every code of a rejected message', () => {
    expect(firstColumn('tracking', 'Rejected messages').sort()).toEqual([...rejectionCodes].sort())
  })
})

describe('docs/reference/operator-api.md', () => {
  it('has every code of its operations except those of all HTTP requests', () => {
    const codes = operations
      .filter(({ isOperators }) => isOperators)
      .flatMap(({ operation }) => Object.values(operation.responses))
      .flatMap(({ $ref = '' }) => {
        const response = document.components.responses[$ref.replace('#/components/responses/', '')]
        return (
          JSON.stringify(response ?? {})
            .match(/(?<="enum":\[)[^\]]+/)?.[0]
            .split(',') ?? []
        )
      })
      .map(code => code.replaceAll('"', ''))
    const ofAnyHttp = ['expectation_failed', 'headers_too_large', 'internal_error']
    expect(Object.keys(answers('operators')).sort()).toEqual(
      [...new Set([...codes, ...Object.keys({ ...objectRefusalStatus, ...sessionStatus })])]
        .filter(code => !ofAnyHttp.includes(code))
        .sort(),
    )
  })
})
