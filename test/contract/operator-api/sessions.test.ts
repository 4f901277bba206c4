import { describe, expect, it } from '@jest/globals'
import { createOperatorSessions } from '../../../src/core/operator/signed-session-tokens.ts'
import { epochMs } from '../../../src/core/time.ts'
import { operatorKey, operatorSessions, readKey } from '../../support/operator/scripted-deletion-and-audience-api.ts'
import { ada, dashboard, deletion, deletionLine, sessionServerForEach } from '../../support/operator/session-server.ts'

const { current, ask, signInWith, signedIn } = sessionServerForEach()

describe('a sign-in', () => {
  it('sets a cookie that scripts and other sites cannot use, and returns who is signed in', async () => {
    const { status, headers, body } = await signInWith(operatorKey)
    expect([status, body]).toEqual([200, { name: 'ada', role: 'operate', csrfToken: expect.any(String) }])
    expect(headers.get('set-cookie')).toMatch(
      /^hookline_session_\d+=[\w-]+\.[\w-]+; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict$/,
    )
    expect(headers.get('cache-control')).toBe('no-store')
  })

  it.each<[string, Record<string, string>]>([
    ['the page is on https', { origin: 'https://hooks.example', 'sec-fetch-site': 'same-origin' }],
    ['a proxy says so', { 'x-forwarded-proto': 'https' }],
  ])('sets a cookie for TLS only when %s', async (_, headers) => {
    const { status, headers: answered } = await signInWith(operatorKey, headers)
    expect([status, answered.get('set-cookie')]).toEqual([200, expect.stringMatching(/; Secure$/)])
  })

  it.each([
    ['a wrong key', { key: 'wrong' }, 401, 'invalid_operator_key'],
    ['an empty key', { key: '' }, 401, 'invalid_operator_key'],
    ['no key', {}, 400, 'invalid_body'],
    ['a key that is not text', { key: [operatorKey] }, 400, 'invalid_body'],
    ['another field', { key: operatorKey, role: 'operate' }, 400, 'invalid_body'],
    ['no JSON', 'key=operator-key', 400, 'invalid_json'],
    ['too much', { key: 'x'.repeat(20_000) }, 413, 'payload_too_large'],
  ])('is refused with %s', async (_, body, status, code) => {
    const answer = await ask('POST /v1/session', { body })
    expect([answer.status, answer.body.code, answer.headers.get('set-cookie')]).toEqual([status, code, null])
    expect(answer.body).toEqual({ code, message: expect.any(String), problems: expect.any(Array) })
    expect(current().audited).toEqual([])
  })

  it('is throttled together with wrong operator keys', async () => {
    for (let guess = 0; guess < 5; guess++) expect((await signInWith(`guess-${guess}`)).status).toBe(401)
    for (let guess = 0; guess < 5; guess++) {
      const authorization = `Bearer guess-${guess}`
      expect((await ask('GET /v1/status', { headers: { authorization } })).status).toBe(401)
    }
    const refused = await signInWith(operatorKey)
    expect([refused.status, refused.body.code, refused.headers.get('retry-after')]).toEqual([429, 'rate_limited', '10'])
    current().state.now += 10_000
    expect((await signInWith(operatorKey)).status).toBe(200)
  })

  it('is not needed again while wrong keys from the same address are throttled', async () => {
    const { cookie } = await signedIn()
    for (let guess = 0; guess < 10; guess++) expect((await signInWith(`guess-${guess}`)).status).toBe(401)
    expect((await ask('GET /v1/status', { headers: { cookie } })).status).toBe(200)
    // Anyone can make a token from a guessed key, so the response must not reveal that the guess is
    // right.
    const made = operatorSessions.begin(operatorKey, 'made', epochMs(current().state.now))
    expect(made).toBeDefined()
    const guessed = { cookie: `${cookie.split('=')[0]}=${made?.token}` }
    expect((await ask('GET /v1/status', { headers: guessed })).status).toBe(429)
  })

  it('never continues a session that the browser already had', async () => {
    const planted = await signedIn(readKey)
    const { headers, body } = await signInWith(operatorKey, { cookie: planted.cookie })
    expect(headers.get('set-cookie')).not.toContain(planted.cookie)
    expect(body.csrfToken).not.toBe(planted.csrfToken)
    const [first, second] = [await signedIn(), await signedIn()]
    expect(first.cookie).not.toBe(second.cookie)
  })
})

describe('a session', () => {
  it('shows who is signed in, and the same CSRF token again', async () => {
    const { cookie, csrfToken } = await signedIn()
    const { status, body } = await ask('GET /v1/session', { headers: { cookie } })
    expect([status, body]).toEqual([200, { name: 'ada', role: 'operate', csrfToken }])
  })

  it('makes changes, and the audit log names its key and the session', async () => {
    const { headers } = await signedIn()
    const { status, headers: answered } = await ask(deletionLine, { headers, body: deletion })
    expect([status, answered.get('cache-control')]).toEqual([202, 'no-store'])
    await ask('DELETE /v1/session', { headers })
    const [begun, change, ended] = current().audited as Record<string, unknown>[]
    const by = { key: 'ada', role: 'operate', session: expect.any(String) }
    expect([begun, change, ended]).toMatchObject([
      { ...by, action: 'sign_in', result: 'ok' },
      { ...by, action: 'delete_users', users: 1, result: 'ok' },
      { ...by, action: 'sign_out', result: 'ok' },
    ])
    expect(new Set([begun, change, ended].map(line => line?.['session'])).size).toBe(1)
    expect(JSON.stringify(current().audited)).not.toContain(headers.cookie.split('.')[1])
  })

  it('ends in the browser with a sign-out, also with the role read', async () => {
    const { headers } = await signedIn(readKey)
    const { status, headers: answered } = await ask('DELETE /v1/session', { headers })
    expect([status, answered.get('set-cookie')]).toEqual([
      204,
      expect.stringMatching(/^hookline_session_\d+=; Path=\/; Max-Age=0/),
    ])
  })

  it('is accepted by another process with the same keys', async () => {
    const { headers } = await signedIn()
    current().state.sessions = createOperatorSessions([dashboard, ada])
    expect((await ask(deletionLine, { headers, body: deletion })).status).toBe(202)
  })

  it('with the role read cannot change anything, and sees no body and no secret', async () => {
    const { headers } = await signedIn(readKey)
    const changes = [
      ...['POST /v1/regulations', 'POST /v1/audiences/Shoppers/syncs', 'PUT /v1/destinations/crm'],
      ...['PATCH /v1/destinations/crm', 'DELETE /v1/destinations/crm', 'POST /v1/destinations/crm/pause'],
      ...[
        'POST /v1/destinations/crm/test',
        'POST /v1/destinations/crm/rotate-secret',
        'POST /v1/sources/web/rotate-key',
      ],
    ]
    for (const line of changes) {
      const { status, body } = await ask(line, { headers, body: {} })
      expect([line, status, body.code]).toEqual([line, 403, 'forbidden'])
    }
    expect(current().api.asked).toEqual([])
    expect((await ask('GET /v1/destinations', { headers })).status).toBe(200)
  })
})

it('the question whether there is a session counts as no failure', async () => {
  for (let time = 0; time < 12; time++) expect((await ask('GET /v1/session')).status).toBe(401)
  expect((await signInWith(operatorKey)).status).toBe(200)
})

it('GET /v1/session with an operator key shows its name and role', async () => {
  const { body } = await ask('GET /v1/session', { headers: { authorization: `Bearer ${readKey}` } })
  expect(body).toEqual({ name: 'dashboard', role: 'read' })
})
