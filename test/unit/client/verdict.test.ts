import { describe, expect, it } from '@jest/globals'
import { verdictOf } from '../../../packages/client/src/verdict.ts'
import { entry } from '../../support/client/sender-harness.ts'

const messages = [entry('a'), entry('b'), entry('c')]
const verdict = (status: number, body = '', retryAfter: string | null = null) =>
  verdictOf({ status, body, retryAfter }, messages, 0)

describe('what a status means', () => {
  it.each([
    ['taken', [200, 201, 202, 204, 299]],
    ['retry', [408, 410, 429, 460, 500, 502, 503, 504, 506, 510, 520, 599]],
    ['too_large', [413]],
    ['refused', [300, 301, 302, 304, 307, 308, 400, 401, 402, 403, 404, 405, 409, 411, 422, 451, 499, 501, 505, 511]],
  ] as const)('%s', (kind, statuses) => {
    expect(statuses.map(status => [status, verdict(status).kind])).toEqual(statuses.map(status => [status, kind]))
  })

  it.each([429, 503])('%i may ask for a pause', status => {
    expect(verdict(status, '', '7')).toMatchObject({ kind: 'retry', retryAfterMs: 7_000 })
  })

  it('names the status, and what the collector says about it', () => {
    const body = JSON.stringify({ code: 'invalid_write_key', message: 'No source\nhas this key.', error: 'x' })
    const trouble = {
      code: 'http_401',
      detail: 'The endpoint answered 401 (invalid_write_key: No source has this key.).',
    }
    expect(verdict(401, body)).toEqual({ kind: 'refused', trouble })
    expect(verdict(502, '<html>')).toMatchObject({
      trouble: { code: 'http_502', detail: 'The endpoint answered 502.' },
    })
  })
})

describe('rejections in an answer of success', () => {
  const good = { index: 1, messageId: 'b', code: 'too_deep', message: 'Flatten it.' }
  const one = { index: 1, code: 'too_deep', detail: 'Flatten it.' }
  const rejectedIn = (rejected: unknown) => {
    const result = verdict(200, JSON.stringify({ success: true, rejected }))
    return result.kind === 'taken' ? result.rejected : result.kind
  }
  it.each([
    ['none', undefined, []],
    ['one', [good], [one]],
    ['twice the same', [good, good], [one]],
    ['without a message id', [{ ...good, messageId: undefined }], [one]],
    ['the id counts, not the index', [{ ...good, index: 0 }], [one]],
    ['without an index', [{ ...good, index: undefined }], [one]],
    ['an unknown id', [{ ...good, messageId: 'z' }], []],
    ['an index beyond the batch', [{ index: 3 }], []],
    ['an index that is none', [{ index: 0.5 }, { index: '1' }], []],
    ['nothing said', [{ index: 0 }], [{ index: 0, code: 'rejected', detail: 'No reason was given.' }]],
    ['no list', { index: 0 }, []],
    ['no objects in it', [null, 1, 'a'], []],
  ])('%s', (_, rejected, expected) => {
    expect(rejectedIn(rejected)).toEqual(expected)
  })

  it.each(['', 'OK', '[]', 'null', '{"rejected":[{"index":0'])('a body that says nothing: %j', body => {
    expect(verdict(200, body)).toEqual({ kind: 'taken', rejected: [] })
  })
})
