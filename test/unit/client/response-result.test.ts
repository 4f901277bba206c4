import { describe, expect, it } from '@jest/globals'
import { resultOf } from '../../../packages/client/src/response-result.ts'
import { entry } from '../../support/client/sender-harness.ts'

const messages = [entry('a'), entry('b'), entry('c')]
const verdict = (status: number, body = '', retryAfter: string | null = null) =>
  resultOf({ status, body, retryAfter }, messages, 0)

describe('resultOf a status', () => {
  it.each([
    ['taken', [200, 201, 202, 204, 299]],
    ['retry', [408, 410, 429, 460, 500, 502, 503, 504, 506, 510, 520, 599]],
    ['too_large', [413]],
    ['refused', [300, 301, 302, 304, 307, 308, 400, 401, 402, 403, 404, 405, 409, 411, 422, 451, 499, 501, 505, 511]],
  ] as const)('%s', (kind, statuses) => {
    expect(statuses.map(status => [status, verdict(status).kind])).toEqual(statuses.map(status => [status, kind]))
  })

  it.each(['<html>Sign in</html>', '\n<!DOCTYPE html>'])('a 200 with the web page %j is retried', body => {
    expect(verdict(200, body)).toEqual({
      kind: 'retry',
      trouble: { code: 'not_a_collector', detail: expect.stringContaining("Check 'endpoint'") },
      retryAfterMs: undefined,
    })
  })

  it.each([429, 503])('%i can have Retry-After', status => {
    expect(verdict(status, '', '7')).toMatchObject({ kind: 'retry', retryAfterMs: 7_000 })
  })

  it('describes the status with the code and message of the collector', () => {
    const body = JSON.stringify({ code: 'invalid_write_key', message: 'No source\nhas this key.', error: 'x' })
    const trouble = {
      code: 'http_401',
      detail: 'The collector responded with status 401 (invalid_write_key: No source has this key.).',
    }
    expect(verdict(401, body)).toEqual({ kind: 'refused', trouble })
    expect(verdict(502, '<html>')).toMatchObject({
      trouble: { code: 'http_502', detail: 'The collector responded with status 502.' },
    })
  })
})

describe('rejections in a successful response', () => {
  const good = { index: 1, messageId: 'b', code: 'too_deep', message: 'Flatten it.' }
  const one = { index: 1, code: 'too_deep', detail: 'Flatten it.' }
  const rejectedIn = (rejected: unknown) => {
    const result = verdict(200, JSON.stringify({ success: true, rejected }))
    return result.kind === 'taken' ? result.rejected : result.kind
  }
  it.each([
    ['none', undefined, []],
    ['one', [good], [one]],
    ['a duplicate', [good, good], [one]],
    ['without a message id', [{ ...good, messageId: undefined }], [one]],
    ['a message id that contradicts the index', [{ ...good, index: 0 }], [one]],
    ['without an index', [{ ...good, index: undefined }], [one]],
    ['an unknown id', [{ ...good, messageId: 'z' }], []],
    ['an index beyond the batch', [{ index: 3 }], []],
    ['an invalid index', [{ index: 0.5 }, { index: '1' }], []],
    [
      'no code and no message',
      [{ index: 0 }],
      [{ index: 0, code: 'rejected', detail: 'The collector gave no reason for the rejection.' }],
    ],
    ['not a list', { index: 0 }, []],
    ['entries that are not objects', [null, 1, 'a'], []],
  ])('%s', (_, rejected, expected) => {
    expect(rejectedIn(rejected)).toEqual(expected)
  })

  it.each(['', 'OK', '[]', 'null', '{"rejected":[{"index":0'])('ignores the body %j', body => {
    expect(verdict(200, body)).toEqual({ kind: 'taken', rejected: [] })
  })
})
