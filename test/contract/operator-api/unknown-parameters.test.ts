import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { operatorDocument } from '../../../src/adapters/http/openapi-operator.ts'
import { ScriptedOperatorApi } from '../../support/operator/scripted-deletion-and-audience-api.ts'
import { askObjects } from '../../support/operator/send-operator-api-request.ts'
import { startOperator } from '../../support/operator/server.ts'

/*
 * If the service ignored a misspelt or repeated query parameter, it could change something that the
 * client did not mean.
 */

let server: Awaited<ReturnType<typeof startOperator>>
beforeAll(async () => {
  server = await startOperator(new ScriptedOperatorApi())
})
afterAll(() => server.stop())

/** Public documents. They accept every query, because clients add a query to defeat a cache. */
const documents = ['/openapi.json', '/.well-known/hookline-keys.json']
const { paths } = operatorDocument() as { readonly paths: Readonly<Record<string, object>> }
const withMethod = (method: string): readonly string[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.hasOwn(methods, method) && !documents.includes(path)
      ? [path.replace('{id}', 'filed').replace('{key}', 'a-key').replace('{name}', 'Shoppers')]
      : [],
  )
/** Paths of deletions and syncs have the error codes of the tracking API. */
const codeFor = (path: string): string => (/regulations|syncs/.test(path) ? 'invalid_body' : 'invalid_query')
const answerTo = async (line: string) => {
  const { status, body } = await askObjects(server, line, line.startsWith('POST') ? {} : undefined)
  return [status, body.code]
}

describe('an unknown query parameter', () => {
  it.each(withMethod('get'))('of GET %s is an error', async path => {
    expect(await answerTo(`GET ${path}?nonsense=1`)).toEqual([400, codeFor(path)])
  })

  it.each(withMethod('post'))('of POST %s is an error', async path => {
    if (path === '/v1/session') return
    expect(await answerTo(`POST ${path}?dryRun=true`)).toEqual([400, codeFor(path)])
  })

  it.each(['/v1/replays/filed', '/v1/resends/filed'])('of DELETE %s is an error', async path => {
    expect(await answerTo(`DELETE ${path}?dryRun=true`)).toEqual([400, 'invalid_query'])
  })
})

describe('a repeated query parameter', () => {
  it.each([
    ...['/v1/destinations?limit=1&limit=2', '/v1/sources?q=a&q=b', '/v1/changes?since=1h&since=2h'],
    ...['/v1/messages/m-1?since=1h&since=2h', '/v1/dead-letters?limit=1&limit=2', '/v1/ledger?since=1h&since=2h'],
    ...['/v1/status?a=1&a=2', '/v1/audiences?a=1&a=2', '/v1/replays?limit=1&limit=2'],
  ])('of GET %s is an error', async path => {
    expect(await answerTo(`GET ${path}`)).toEqual([400, 'invalid_query'])
  })
})
