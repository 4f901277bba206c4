import { describe, expect, it } from '@jest/globals'
import { Validator } from '@seriousme/openapi-schema-validator'
import ajv from 'ajv/dist/2020.js'
import { operatorMethodsOf } from '../../../../src/adapters/http/api-paths-and-methods.ts'
import { operatorDocument } from '../../../../src/adapters/http/openapi-operator.ts'
import { objectRefusalStatus } from '../../../../src/core/operator/object-refusal.ts'

interface Operation {
  readonly operationId: string
  readonly responses: Readonly<Record<string, { readonly $ref?: string }>>
}
const document = JSON.parse(JSON.stringify(operatorDocument())) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly responses: Readonly<Record<string, object>> }
}
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
)

describe('the OpenAPI document of the operator API', () => {
  it('is valid OpenAPI 3.1', async () => {
    const { valid, errors } = await new Validator().validate(structuredClone(document))
    expect([valid, errors]).toEqual([true, undefined])
  })

  it('has the methods that the listener allows, with unique operation ids', () => {
    for (const [path, methods] of Object.entries(document.paths)) {
      const allowed = operatorMethodsOf(path)
        ?.split(', ')
        .filter(name => name !== 'HEAD' && name !== 'OPTIONS')
      expect([
        path,
        Object.keys(methods)
          .map(name => name.toUpperCase())
          .sort(),
      ]).toEqual([path, allowed])
    }
    const ids = operations.map(({ operation }) => operation.operationId)
    expect(new Set(ids).size).toBe(ids.length)
  })

  it('names every code of a refusal, with its status', () => {
    const described = operations.flatMap(({ operation }) =>
      Object.entries(operation.responses).flatMap(([status, { $ref = '' }]) => {
        const response = JSON.stringify(document.components.responses[$ref.replace('#/components/responses/', '')])
        const codes: string[] = response?.match(/(?<="enum":\[)[^\]]+/)?.[0].split(',') ?? []
        return response?.includes('ObjectRefusal')
          ? codes.map(code => [code.replaceAll('"', ''), Number(status)] as const)
          : []
      }),
    )
    expect(Object.fromEntries(described)).toEqual(objectRefusalStatus)
  })
})

describe('the schema of a destination', () => {
  const schemas = new ajv.Ajv2020({ strict: false, validateFormats: false })
  schemas.addSchema(document, 'api')
  const validate = schemas.compile({ $ref: 'api#/components/schemas/DestinationDocument' })
  const valid = { sources: ['web'], webhooks: [{ url: 'https://a.example' }] }

  it.each<[string, object, boolean]>([
    ['a small document', valid, true],
    ['its id', { ...valid, id: 'crm' }, true],
    ['masked secrets', { ...valid, sharedSecret: ['***', '***'], secretRotatesAt: '2026-12-31T18:00:00Z' }, true],
    ['no webhook', { sources: ['web'] }, false],
    ['a name of a file', { ...valid, sharedSecretFile: 'secrets/crm' }, false],
    ['the file of a URL', { ...valid, webhooks: [{ urlFile: 'url' }] }, false],
    [
      'the file of a header',
      { ...valid, webhooks: [{ ...valid.webhooks[0], headers: { key: { file: 'key' } } }] },
      false,
    ],
    ['a header', { ...valid, webhooks: [{ ...valid.webhooks[0], headers: { key: 'value' } }] }, true],
    ['a file of CAs', { ...valid, tls: { caFile: 'ca.pem' } }, false],
    ['an unknown key', { ...valid, hedaers: {} }, false],
  ])('with %s', (_, given, expected) => {
    expect(validate(given)).toBe(expected)
  })
})
