import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Role } from '../../../packages/console/src/api/response-types.ts'
import { consoleFile } from './built-console.ts'
import { type Answer, type Call, createFakeRoutes, type FakeRoutes } from './fake-routes.ts'

/*
 * A server with the console and a fake operator API, which has fixed initial data and keeps
 * changes.
 */

export const keys: Readonly<Record<Role, string>> = { read: 'read-key', operate: 'operate-key' }

export interface FakeOperator extends FakeRoutes {
  readonly url: string
  /** Requests that change something, for example `POST /v1/destinations/crm/pause`. */
  readonly changed: readonly string[]
  close(): Promise<void>
}

export async function startFakeOperator(destinations = 20): Promise<FakeOperator> {
  const routes = createFakeRoutes(destinations)
  const changed: string[] = []
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://localhost')
    if (!url.pathname.startsWith('/v1/')) return consoleFile(url.pathname, response)
    void answer(request, url).then(found => send(response, found))
  })

  async function answer(request: IncomingMessage, url: URL): Promise<Answer> {
    const call = await callOf(request, url)
    if (url.pathname === '/v1/session') return session(call)
    const role = roleOf(request)
    if (role === undefined) return refused(401, 'not_signed_in', 'Sign in first.')
    if (call.method !== 'GET') {
      if (request.headers['x-csrf-token'] !== tokenOf(role))
        return refused(403, 'invalid_csrf_token', 'The header X-CSRF-Token is wrong.')
      if (role === 'read') return refused(403, 'forbidden', 'The role read may not change anything.')
      if (!url.searchParams.has('dryRun')) changed.push(`${call.method} ${url.pathname}`)
    }
    return routes.answer({ ...call, role })
  }
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    ...{ ...routes, changed, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` },
    async close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

const tokenOf = (role: Role): string => `csrf-token-${role}`

function session({ method, body, role }: Call): Answer {
  const given = (['read', 'operate'] as const).find(each => keys[each] === body['key']) ?? role
  if (method === 'DELETE') return { status: 204, headers: { 'set-cookie': 'role=; Path=/; Max-Age=0' } }
  if (given === undefined) return refused(401, 'invalid_operator_key', 'This operator key is not valid.')
  const shown = { name: given === 'read' ? 'dashboard' : 'ada', role: given, csrfToken: tokenOf(given) }
  return { status: 200, body: shown, headers: { 'set-cookie': `role=${given}; HttpOnly; SameSite=Strict; Path=/` } }
}

const roleOf = ({ headers }: IncomingMessage): Role | undefined =>
  /role=(read|operate)/.exec(headers.cookie ?? '')?.[1] as Role | undefined

async function callOf(request: IncomingMessage, url: URL): Promise<Call> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  const text = Buffer.concat(parts).toString()
  return {
    method: request.method ?? 'GET',
    path: url.pathname.slice('/v1/'.length).split('/').map(decodeURIComponent),
    query: url.searchParams,
    body: text === '' ? {} : JSON.parse(text),
    expects: Number(/\d+/.exec(String(request.headers['if-match']))?.[0]),
    role: roleOf(request),
  }
}

const refused = (status: number, code: string, message: string): Answer => ({
  status,
  body: { code, message, problems: [] },
})

function send(response: ServerResponse, { status, body, headers = {} }: Answer): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(body === undefined ? undefined : JSON.stringify(body))
}
