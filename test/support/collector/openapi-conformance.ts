import { expect } from '@jest/globals'
import ajv, { type ValidateFunction } from 'ajv/dist/2020.js'
import { openApiDocument } from '../../../src/adapters/http/openapi-tracking.ts'
import type { WireAnswer } from '../network/raw-http-client.ts'

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}
interface Operation {
  readonly responses: Readonly<Record<string, { readonly $ref?: string }>>
}

const document = openApiDocument() as Document
const schemas = new ajv.Ajv2020({ strict: true, strictTypes: false, strictRequired: false })
schemas.addKeyword({ keyword: 'paths' })
for (const word of ['openapi', 'info', 'servers', 'tags', 'security', 'components'])
  schemas.addKeyword({ keyword: word })
schemas.addSchema(document, 'api')
const compiled = new Map<string, ValidateFunction>()

function validatorOf(pointer: string): ValidateFunction {
  const known = compiled.get(pointer)
  if (known !== undefined) return known
  const validate = schemas.compile({ $ref: `api#${pointer}` })
  compiled.set(pointer, validate)
  return validate
}

/** The documented operation for a request line. */
function operationOf(requestLine: string): { path: string; method: string } | undefined {
  const [method = '', target = ''] = requestLine.split(' ')
  const plain = target
    .replace(/^https?:\/\/[^/]*/, '')
    .replace(/[?#].*$/, '')
    .replace(/\/{2,}/g, '/')
    .replace(/(?<=.)\/$/, '')
  const path = decoded(plain)
    .replace(/^(\/v1\/projects\/)[^/]+(\/settings)$/, '$1{writeKey}$2')
    .replace(/^(\/v1\/regulations\/)[^/]+$/, '$1{id}')
    .replace(/^(\/v1\/audiences\/)[^/]+(\/syncs)$/, '$1{name}$2')
  const verb = method === 'HEAD' ? 'get' : method.toLowerCase()
  return document.paths[path]?.[verb] === undefined ? undefined : { path, method: verb }
}

function decoded(path: string): string {
  try {
    return decodeURI(path)
  } catch {
    return path
  }
}

/** Checks a response against the OpenAPI document. An undocumented request must get an error. */
export function expectAsDocumented(requestLine: string, { status, body }: WireAnswer): void {
  if (body === '') return
  const operation = operationOf(requestLine)
  const validate = validatorOf(operation === undefined ? problemPointer : schemaPointer(operation, status))
  expect([validate(JSON.parse(body)), validate.errors]).toEqual([true, null])
}

const problemPointer = '/components/schemas/Problem'

function schemaPointer({ path, method }: { path: string; method: string }, status: number): string {
  const responses = document.paths[path]?.[method]?.responses ?? {}
  expect(Object.keys(responses)).toContain(String(status))
  const response = responses[status]?.$ref?.slice(1) ?? pointer('paths', path, method, 'responses', String(status))
  return response + pointer('content', 'application/json', 'schema')
}

const pointer = (...parts: readonly string[]): string =>
  parts.map(part => `/${encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))}`).join('')
