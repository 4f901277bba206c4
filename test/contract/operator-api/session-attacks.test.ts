import { describe, expect, it } from '@jest/globals'
import { createOperatorSessions } from '../../../src/core/operator/signed-session-tokens.ts'
import { Secret } from '../../../src/core/secret.ts'
import { operatorKey, readKey } from '../../support/operator/scripted-deletion-and-audience-api.ts'
import { ada, dashboard, deletion, deletionLine, sessionServerForEach } from '../../support/operator/session-server.ts'

const { current, ask, signInWith, signedIn } = sessionServerForEach()

describe('a change with the cookie is refused', () => {
  it.each<[string, (session: Awaited<ReturnType<typeof signedIn>>) => Record<string, string>, number, string]>([
    ['without a CSRF token', ({ cookie }) => ({ cookie }), 403, 'invalid_csrf_token'],
    ['with an empty CSRF token', ({ cookie }) => ({ cookie, 'x-csrf-token': '' }), 403, 'invalid_csrf_token'],
    [
      'with a wrong CSRF token',
      ({ cookie, csrfToken }) => ({ cookie, 'x-csrf-token': `${csrfToken.slice(0, -1)}!` }),
      403,
      'invalid_csrf_token',
    ],
    [
      'with the signature of the cookie as CSRF token',
      ({ cookie }) => ({ cookie, 'x-csrf-token': cookie.split('.')[1] ?? '' }),
      403,
      'invalid_csrf_token',
    ],
    [
      'from a page of another site',
      ({ headers }) => ({ ...headers, 'sec-fetch-site': 'cross-site' }),
      403,
      'cross_origin',
    ],
    [
      'from a page of another host',
      ({ headers }) => ({ ...headers, 'sec-fetch-site': 'same-site' }),
      403,
      'cross_origin',
    ],
    ['with another Origin', ({ headers }) => ({ ...headers, origin: 'https://evil.example' }), 403, 'cross_origin'],
    ['with the Origin null', ({ headers }) => ({ ...headers, origin: 'null' }), 403, 'cross_origin'],
    [
      'with a second session cookie',
      ({ headers, cookie }) => ({ ...headers, cookie: `${cookie}; ${cookie}` }),
      401,
      'invalid_session',
    ],
    [
      'with a wrong operator key',
      ({ headers }) => ({ ...headers, authorization: 'Bearer wrong' }),
      401,
      'invalid_operator_key',
    ],
  ])('%s', async (_, headersOf, status, code) => {
    const answer = await ask(deletionLine, { headers: headersOf(await signedIn()), body: deletion })
    expect([answer.status, answer.body.code]).toEqual([status, code])
    expect(current().api.asked).toEqual([])
  })

  it('and is in the audit log if the session is valid', async () => {
    const { cookie } = await signedIn()
    const { headers } = await ask(deletionLine, { headers: { cookie }, body: deletion })
    expect(current().audited.at(-1)).toEqual({
      ...{ key: 'ada', role: 'operate', session: expect.any(String), requestId: headers.get('x-request-id') },
      ...{ action: 'delete_users', result: 'invalid_csrf_token' },
    })
  })

  it('with the CSRF token of another session', async () => {
    const [mine, other] = [await signedIn(), await signedIn()]
    const headers = { cookie: mine.cookie, 'x-csrf-token': other.csrfToken }
    expect((await ask(deletionLine, { headers, body: deletion })).body.code).toBe('invalid_csrf_token')
  })

  it.each(['cross-site', 'same-site'])('as a sign-in from a page that is %s', async site => {
    const { status, headers, body } = await signInWith(operatorKey, { 'sec-fetch-site': site })
    expect([status, body.code, headers.get('set-cookie')]).toEqual([403, 'cross_origin', null])
  })
})

it('a page of the same origin may send requests', async () => {
  const { headers } = await signedIn()
  const own: Record<string, string>[] = [
    { origin: current().url },
    { origin: 'https://behind-a-proxy.example', 'sec-fetch-site': 'same-origin' },
  ]
  for (const more of own)
    expect((await ask(deletionLine, { headers: { ...headers, ...more }, body: deletion })).status).toBe(202)
})

it('a request with an operator key needs no CSRF token, whatever its cookies and its origin are', async () => {
  const headers = {
    authorization: `Bearer ${operatorKey}`,
    cookie: `hookline_session_${new URL(current().url).port}=forged`,
    origin: 'https://evil.example',
  }
  expect((await ask(deletionLine, { headers, body: deletion })).status).toBe(202)
})

describe('a cookie that is not valid gets 401, is deleted, and lets nothing pass', () => {
  const refused = async (cookie: string, csrfToken: string) => {
    const headers = { cookie, 'x-csrf-token': csrfToken }
    for (const line of ['GET /v1/session', 'GET /v1/destinations', deletionLine]) {
      const {
        status,
        headers: answered,
        body,
      } = await ask(line, { headers, ...(line === deletionLine && { body: deletion }) })
      expect([line, status, body.code]).toEqual([line, 401, 'invalid_session'])
      expect(answered.get('set-cookie')).toContain('Max-Age=0')
    }
    expect(current().api.asked).toEqual([])
  }

  it('when its key was removed', async () => {
    const { cookie, csrfToken } = await signedIn()
    current().state.sessions = createOperatorSessions([dashboard])
    await refused(cookie, csrfToken)
  })

  it('when its key was rotated', async () => {
    const { cookie, csrfToken } = await signedIn()
    current().state.sessions = createOperatorSessions([
      { ...ada, secrets: [new Secret('next-operator-key')] },
      dashboard,
    ])
    await refused(cookie, csrfToken)
  })

  it('when 12 hours are over', async () => {
    const { cookie, csrfToken } = await signedIn()
    current().state.now += 12 * 3_600_000
    await refused(cookie, csrfToken)
  })

  it('when it was altered to name another operator', async () => {
    const { cookie, csrfToken } = await signedIn(readKey)
    const [name, payload = '', mac] = cookie.split(/[=.]/)
    const content = JSON.parse(Buffer.from(payload, 'base64url').toString())
    const forged = Buffer.from(JSON.stringify({ ...content, name: 'ada' })).toString('base64url')
    await refused(`${name}=${forged}.${mac}`, csrfToken)
  })

  it('and a forged one counts as a wrong key, but an expired one does not', async () => {
    const { cookie } = await signedIn()
    current().state.now += 12 * 3_600_000
    const statusOf = async (given: string) => (await ask('GET /v1/session', { headers: { cookie: given } })).status
    for (let time = 0; time < 12; time++) expect(await statusOf(cookie)).toBe(401)
    const forged: number[] = []
    for (let time = 0; time < 12; time++) forged.push(await statusOf(`${cookie.split('=')[0]}=a.b`))
    expect(forged).toEqual([...Array(10).fill(401), 429, 429])
  })
})
