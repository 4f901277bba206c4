import { describe, expect, it } from '@jest/globals'
import { accepted, problem, refused, toHttpText } from '../../../../src/adapters/http/response-codes-and-bodies.ts'
import { type RefusalCode, refusal, refusalStatus } from '../../../../src/core/message/request-refusal.ts'

const json = { 'content-type': 'application/json; charset=utf-8' }

describe('success', () => {
  it('is a 200 with a JSON object, which every SDK accepts', () => {
    expect(accepted([])).toEqual({ code: 'ok', status: 200, headers: json, body: '{"success":true}' })
  })

  it('lists the rejected messages', () => {
    const answer = accepted([
      { index: 0, messageId: 'm-1', code: 'missing_event', message: "You must pass 'event'." },
      { index: 7, messageId: undefined, code: 'invalid_json', message: 'The message is not JSON.' },
    ])
    expect(answer.status).toBe(200)
    expect(answer.body).toBe(
      '{"success":true,"rejected":[{"index":0,"messageId":"m-1","code":"missing_event","message":"You must pass \'event\'."},{"index":7,"code":"invalid_json","message":"The message is not JSON."}]}',
    )
  })
})

describe('an error response', () => {
  it.each(Object.entries(refusalStatus))(
    '%s has status %i and its code and text where SDKs look for them',
    (code, status) => {
      const { headers, ...answer } = refused(refusal(code as RefusalCode, 'Do something else.'))
      expect(answer).toEqual({
        code,
        status,
        body: `{"success":false,"code":"${code}","message":"Do something else.","error":"Do something else."}`,
      })
      expect(headers).toEqual({
        ...json,
        ...((status === 429 || status === 503) && { 'retry-after': '1' }),
        ...(code === 'invalid_operator_key' && { 'www-authenticate': 'Bearer' }),
      })
    },
  )

  it.each<[string, number | undefined, string]>([
    ['as given', 30, '30'],
    ['whole seconds', 0.2, '1'],
    ['never zero', 0, '1'],
    ['rounded up', 4.01, '5'],
    ['without a value', undefined, '1'],
  ])('Retry-After %s', (_, retryAfter, header) => {
    expect(problem('rate_limited', 'Later.', { retryAfter }).headers['retry-after']).toBe(header)
  })

  it('has no Retry-After where a retry does not help', () => {
    expect(problem('payload_too_large', 'Less.', { retryAfter: 3 }).headers).toEqual(json)
  })

  it('lists the rejected messages in strict mode', () => {
    const rejected = [{ index: 1, messageId: 'm', code: 'too_deep', message: 'Flatten it.' }] as const
    expect(JSON.parse(refused(refusal('rejected', 'Nothing was taken.', { rejected })).body)).toEqual({
      success: false,
      code: 'rejected',
      message: 'Nothing was taken.',
      error: 'Nothing was taken.',
      rejected,
    })
  })

  it('lists the methods of a path', () => {
    expect(problem('method_not_allowed', 'Use POST.', { allow: 'OPTIONS, POST' }).headers['allow']).toBe(
      'OPTIONS, POST',
    )
  })
})

it('a response without a parsed request closes the connection', () => {
  expect(toHttpText(problem('malformed_request', 'Schlüssel.'))).toBe(
    [
      'HTTP/1.1 400 Bad Request',
      'content-type: application/json; charset=utf-8',
      'content-length: 90',
      'connection: close',
      '',
      '{"success":false,"code":"malformed_request","message":"Schlüssel.","error":"Schlüssel."}',
    ].join('\r\n'),
  )
})
