import { describe, expect, it } from '@jest/globals'
import { createApiClient } from '../../../../packages/console/src/api/api-client.ts'

interface Sent {
  readonly path: string
  readonly init: RequestInit
}

/** A client whose requests get this response. */
function clientWith(status: number, body: string, token?: string) {
  const sent: Sent[] = []
  let signedOut = 0
  let otherSessions = 0
  const client = createApiClient({
    fetch: async (path, init) => {
      sent.push({ path: String(path), init: init ?? {} })
      return new Response(status === 204 ? null : body, { status })
    },
    csrfToken: () => token,
    onSignedOut: () => void signedOut++,
    onOtherSession: () => void otherSessions++,
  })
  return { client, sent, signedOut: () => signedOut, otherSessions: () => otherSessions }
}

describe('a change', () => {
  it('has the CSRF token, the expected version and a JSON body', async () => {
    const { client, sent } = clientWith(200, '{"version":4}', 'token')
    expect(await client.change('PUT', '/v1/destinations/crm', { body: { a: 1 }, expects: 3 })).toEqual({ version: 4 })
    expect(sent).toEqual([
      {
        path: '/v1/destinations/crm',
        init: {
          ...{ method: 'PUT', credentials: 'same-origin', body: '{"a":1}' },
          headers: { 'X-CSRF-Token': 'token', 'Content-Type': 'application/json', 'If-Match': '"3"' },
        },
      },
    ])
  })

  it('that creates a job has its idempotency key', async () => {
    const { client, sent } = clientWith(202, '{}')
    await client.change('POST', '/v1/resends', { idempotencyKey: 'k' })
    expect(sent[0]?.init.headers).toEqual({ 'Idempotency-Key': 'k' })
  })

  it('creates only what does not exist', async () => {
    const { client, sent } = clientWith(201, '{}')
    await client.change('PUT', '/v1/destinations/crm', { expects: 'absent' })
    expect(sent[0]?.init.headers).toEqual({ 'If-None-Match': '*' })
  })

  it('of an empty response is an empty object', async () => {
    expect(await clientWith(204, '').client.change('DELETE', '/v1/session')).toEqual({})
  })
})

describe('a refusal', () => {
  it('has the status, code, message and problems', async () => {
    const problems = [{ path: 'sources', message: 'is missing', hint: '' }]
    const { client } = clientWith(422, JSON.stringify({ code: 'invalid_object', message: 'Not valid.', problems }))
    await expect(client.get('/v1/x')).rejects.toMatchObject({
      ...{ status: 422, code: 'invalid_object', message: 'Not valid.', problems },
    })
  })

  it('without JSON names the status', async () => {
    await expect(clientWith(502, '<html>').client.get('/v1/x')).rejects.toMatchObject({
      ...{ status: 502, code: 'unknown' },
      message: expect.stringContaining('in place of the operator service (HTTP status 502)'),
    })
  })

  it.each(['<html>', ''])('is also a success whose body is not JSON: "%s"', async body => {
    await expect(clientWith(200, body).client.change('PUT', '/v1/x')).rejects.toMatchObject({
      ...{ status: 200, code: 'unknown' },
      message: expect.stringContaining('Hookline may have made it'),
    })
  })

  it('with 401 ends the session', async () => {
    const { client, signedOut } = clientWith(401, '{}')
    await expect(client.get('/v1/x')).rejects.toMatchObject({ status: 401 })
    expect(signedOut()).toBe(1)
  })

  it.each<[string, () => Promise<Response>]>([
    ['a response', () => Promise.reject(new TypeError('failed'))],
    ['the end of a response', async () => new Response(new ReadableStream({ start: stream => stream.error('lost') }))],
  ])('without %s has the status 0', async (_, fetch) => {
    const client = createApiClient({
      fetch,
      csrfToken: () => undefined,
      onSignedOut: () => undefined,
      onOtherSession: () => undefined,
    })
    await expect(client.get('/v1/x')).rejects.toMatchObject({ status: 0, code: 'no_response' })
  })

  it('because of the CSRF token says that another tab has signed in', async () => {
    const { client, otherSessions } = clientWith(403, '{"code":"invalid_csrf_token","message":"No valid token."}')
    await expect(client.change('POST', '/v1/x')).rejects.toMatchObject({
      message: expect.stringContaining('another tab'),
    })
    expect(otherSessions()).toBe(1)
  })
})
