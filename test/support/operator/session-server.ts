import { afterEach, beforeEach } from '@jest/globals'
import { processClock } from '../../../src/adapters/clock/process-clock.ts'
import { createFindOperatorKey } from '../../../src/core/operator/operator-keys.ts'
import { createOperatorSessions } from '../../../src/core/operator/signed-session-tokens.ts'
import { Secret } from '../../../src/core/secret.ts'
import { epochMs } from '../../../src/core/time.ts'
import { operatorKey, readKey, ScriptedOperatorApi } from './scripted-deletion-and-audience-api.ts'
import { startOperator } from './server.ts'

export const ada = { name: 'ada', role: 'operate', secrets: [new Secret(operatorKey)] } as const
export const dashboard = { name: 'dashboard', role: 'read', secrets: [new Secret(readKey)] } as const

/** An example of a request that needs the role `operate` and, in a session, the CSRF token. */
export const deletionLine = 'POST /v1/regulations'
export const deletion = { userIds: ['u-1'] }

interface Asked {
  readonly headers?: Record<string, string>
  readonly body?: unknown
}

type SessionServer = Awaited<ReturnType<typeof startSessionServer>>

/** Starts a server before each test and stops it afterwards. Requests go to the current server. */
export function sessionServerForEach() {
  let server: SessionServer
  beforeEach(async () => {
    server = await startSessionServer()
  })
  afterEach(() => server.stop())
  return {
    current: () => server,
    ask: (...asked: Parameters<SessionServer['ask']>) => server.ask(...asked),
    signInWith: (...asked: Parameters<SessionServer['signInWith']>) => server.signInWith(...asked),
    signedIn: (key?: string) => server.signedIn(key),
  }
}

async function startSessionServer() {
  const api = new ScriptedOperatorApi()
  const state = { sessions: createOperatorSessions([ada, dashboard]), now: Date.UTC(2026, 10, 26) }
  const server = await startOperator(api, {
    sessions: () => state.sessions,
    findKey: () => createFindOperatorKey([ada, dashboard]),
    clock: { ...processClock, now: () => epochMs(state.now), monotonic: () => state.now },
  })

  async function ask(line: string, { headers = {}, body }: Asked = {}) {
    const [method = '', path] = line.split(' ')
    const response = await fetch(`${server.url}${path}`, {
      ...{ method, headers },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) }
  }

  const signInWith = (key: unknown, headers: Record<string, string> = {}) =>
    ask('POST /v1/session', { body: { key }, headers })

  return {
    ...{ api, state, ask, signInWith, url: server.url, stop: server.stop, audited: server.audited },
    /** Signs in. `headers` has the headers for requests of the session. */
    async signedIn(key = operatorKey) {
      const { headers, body } = await signInWith(key)
      const cookie = String(headers.get('set-cookie')).split(';')[0] ?? ''
      return { cookie, csrfToken: body.csrfToken as string, headers: { cookie, 'x-csrf-token': body.csrfToken } }
    },
  }
}
