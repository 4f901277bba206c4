import { describe, expect, it } from '@jest/globals'
import { Validator } from '@seriousme/openapi-schema-validator'
import ajv from 'ajv/dist/2020.js'
import { trackingPaths } from '../../../../src/adapters/http/api-paths-and-methods.ts'
import { openApiDocument } from '../../../../src/adapters/http/openapi-tracking.ts'
import { problemStatus, sessionStatus } from '../../../../src/adapters/http/response-codes-and-bodies.ts'

const document = JSON.parse(JSON.stringify(openApiDocument()))

describe('the OpenAPI document', () => {
  it('is valid OpenAPI 3.1', async () => {
    const validator = new Validator()
    const { valid, errors } = await validator.validate(structuredClone(document))
    expect([valid, errors]).toEqual([true, undefined])
    expect(validator.version).toBe('3.1')
  })

  it('is rejected by the validator when it has a mistake', async () => {
    const broken = structuredClone(document)
    broken.paths['/v1/batch'].post.responses = { '200': { content: {} } }
    expect((await new Validator().validate(broken)).valid).toBe(false)
  })

  it('has every path with a unique operation id', () => {
    expect(Object.keys(document.paths)).toEqual([
      ...trackingPaths.map(({ path }) => path),
      '/v1/projects/{writeKey}/settings',
      '/v1/regulations',
      '/v1/regulations/{id}',
      '/v1/audiences/{name}/syncs',
      '/openapi.json',
    ])
    const ids = Object.values(document.paths).flatMap(path =>
      Object.values(path as object).map(each => each.operationId),
    )
    expect(new Set(ids).size).toBe(ids.length)
  })

  it('names every code of a request, with its status', () => {
    const names = new Set(
      [...JSON.stringify(document.paths).matchAll(/#\/components\/responses\/(\w+)/g)].map(([, name]) => name),
    )
    expect([...names].sort()).toEqual(Object.keys(document.components.responses).sort())
    const statuses = Object.values(document.paths).flatMap(path =>
      Object.values(path as object).flatMap(operation =>
        Object.entries(operation.responses as Record<string, Reference>),
      ),
    )
    const described = statuses.flatMap(([status, { $ref = '' }]) => {
      const { content } = document.components.responses[$ref.replace('#/components/responses/', '')] ?? {}
      const codes: string[] = content?.['application/json'].schema.properties?.code.enum ?? []
      return codes.map(code => [code, Number(status)] as const)
    })
    // The document leaves out `method_not_allowed` and the codes of sessions, which only the
    // operator listener has.
    const { method_not_allowed: _, ...others } = problemStatus
    const ofSessions = Object.keys(sessionStatus)
    const expected = Object.entries(others).filter(([code]) => !ofSessions.includes(code))
    expect(Object.fromEntries(described)).toEqual(Object.fromEntries(expected))
  })
})

interface Reference {
  readonly $ref?: string
}

describe('the schema of a message', () => {
  const schemas = new ajv.Ajv2020({ strict: true, strictTypes: false, strictRequired: false, allowUnionTypes: true })
  for (const word of ['openapi', 'info', 'servers', 'tags', 'security', 'paths', 'components'])
    schemas.addKeyword({ keyword: word })
  schemas.addSchema(document, 'api')
  const validate = schemas.compile({ $ref: 'api#/components/schemas/Batch' })

  it.each<[string, object, boolean]>([
    ['identify', { type: 'identify', userId: 'u', traits: { a: 1 } }, true],
    ['identify without a user', { type: 'identify' }, false],
    ['track', { type: 'track', anonymousId: 'a', event: 'e' }, true],
    ['track without an event', { type: 'track', userId: 'u' }, false],
    ['track without a user', { type: 'track', event: 'e' }, false],
    ['page with nulls, as Python sends them', { type: 'page', userId: 7, anonymousId: null, context: null }, true],
    ['screen', { type: 'screen', userId: 'u', name: 'n' }, true],
    ['group', { type: 'group', userId: 'u', groupId: 3 }, true],
    ['group without a group', { type: 'group', userId: 'u' }, false],
    ['alias', { type: 'alias', userId: 'u', previousId: 'p' }, true],
    ['alias without the previous id', { type: 'alias', userId: 'u' }, false],
    ['an unknown property', { type: 'track', userId: 'u', event: 'e', _metadata: {} }, true],
    ['delete', { type: 'delete', userId: 'u' }, false],
    ['no type', { userId: 'u' }, false],
  ])('%s', (_, message, valid) => {
    expect(validate({ batch: [message], sentAt: '2026-11-21T00:00:00Z', writeKey: 'k' })).toBe(valid)
  })
})
