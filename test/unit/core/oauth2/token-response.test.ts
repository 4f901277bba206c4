import { describe, expect, it } from '@jest/globals'
import { parseTokenResponse } from '../../../../src/core/oauth2/token-response.ts'
import type { TokenAnswer } from '../../../../src/core/webhook-ports.ts'

const answered = (body: unknown, status = 200, retryAfter?: string): TokenAnswer => ({
  kind: 'answered',
  status,
  retryAfter,
  body: typeof body === 'string' ? body : JSON.stringify(body),
})
const issued = (fields: object) =>
  parseTokenResponse(answered({ access_token: 't0ken', token_type: 'Bearer', ...fields }))

describe('a token', () => {
  it.each([
    ['RFC 6749 5.1', { expires_in: 3600 }, 3_600_000],
    ['digits as text', { expires_in: '600' }, 600_000],
    ['fractions of a second', { expires_in: 60.5 }, 60_500],
    ['no expires_in', {}, 300_000],
    ['expires_in: null', { expires_in: null }, 300_000],
    ['an expires_in that is no number', { expires_in: 'soon' }, 300_000],
    ['an expires_in of 0', { expires_in: 0 }, 10_000],
    ['a negative expires_in', { expires_in: -5 }, 10_000],
    ['a lifetime below the minimum', { expires_in: 1 }, 10_000],
    ['a lifetime above the maximum', { expires_in: 1e12 }, 86_400_000],
    ['token_type in lower case', { token_type: 'bearer', expires_in: 60 }, 60_000],
    ['no token_type', { token_type: undefined, expires_in: 60 }, 60_000],
  ])('with %s', (_, fields, lifetime) => {
    const result = issued(fields)
    expect(result).toMatchObject({ kind: 'issued', lifetime })
    expect(result.kind === 'issued' && result.value.reveal()).toBe('t0ken')
  })

  it('is masked when it is printed', () => {
    expect(JSON.stringify(issued({ expires_in: 60 }))).not.toContain('t0ken')
  })
})

const response = 'the token endpoint responded with'
describe('no token', () => {
  it.each<[string, TokenAnswer, string, string]>([
    ['RFC 6749 5.2', answered({ error: 'invalid_client' }, 401), 'http_4xx', `${response} 401 invalid_client`],
    [
      'an error code that is not of the standard',
      answered({ error: 'client-secret-of-crm' }, 400),
      'http_4xx',
      `${response} 400`,
    ],
    ['an error page', answered('<html>', 502), 'http_5xx', `${response} 502`],
    ['a redirect', answered('', 302), 'http_3xx', `${response} 302`],
    ['too many requests', answered('', 429), 'http_429', `${response} 429`],
    ['HTML', answered('<html>'), 'bad_response', 'the response of the token endpoint is not a JSON object'],
    ['a list', answered('[]'), 'bad_response', 'the response of the token endpoint is not a JSON object'],
    ['null', answered('null'), 'bad_response', 'the response of the token endpoint is not a JSON object'],
    ['no access_token', answered({}), 'bad_response', 'the response of the token endpoint has no access_token'],
    [
      'another token_type',
      answered({ access_token: 't', token_type: 'mac' }),
      'bad_response',
      'the token_type in the response of the token endpoint is not Bearer',
    ],
    [
      'a failed connection',
      { kind: 'failed', phase: 'connect', code: 'ECONNREFUSED', detail: 'connect ECONNREFUSED' },
      'connect',
      'connect ECONNREFUSED',
    ],
    ['a timeout', { kind: 'failed', phase: 'deadline', code: 'ETIMEDOUT', detail: 'slow' }, 'timeout', 'slow'],
    ['a blocked address', { kind: 'failed', phase: 'address', code: 'E', detail: 'no' }, 'blocked_address', 'no'],
  ])('after %s', (_, answer, outcome, detail) => {
    expect(parseTokenResponse(answer)).toEqual({ kind: 'failed', failure: { outcome, detail, retryAfter: undefined } })
  })

  it('keeps Retry-After', () => {
    expect(parseTokenResponse(answered('', 503, '17'))).toMatchObject({ failure: { retryAfter: '17' } })
  })

  it.each([
    ['empty', ''],
    ['with a line break', 'a\r\nX-Admin: 1'],
    ['with a space', 'a b'],
    ['not ASCII', 'tök'],
    ['too long', 'x'.repeat(8_193)],
  ])('after a token that is %s', (_, value) => {
    expect(issued({ access_token: value })).toMatchObject({ kind: 'failed', failure: { outcome: 'bad_response' } })
  })
})
