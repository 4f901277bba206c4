import { describe, expect, it } from '@jest/globals'
import { durationMs } from '../../../../src/core/time.ts'
import type { CallResult, TokenAnswer, WebhookCall } from '../../../../src/core/webhook-ports.ts'
import { createAuthorize } from '../../../../src/services/dispatcher/authorized-transport.ts'
import { destinationOf, oauth2Of } from '../../../support/builders.ts'
import { answered, ok } from '../../../support/dispatcher/harness.ts'
import { ManualClock } from '../../../support/manual-clock.ts'
import { countingMetrics } from '../../../support/telemetry/counting-metrics.ts'
import { silent } from '../../../support/telemetry/silent-logger.ts'

interface Sent {
  readonly call: WebhookCall
  readonly end: (result: CallResult) => void
}

const call: WebhookCall = { url: 'https://crm.example.com/', headers: { 'X-A': '1' }, body: Buffer.from('{}') }
const timedOut: CallResult = { kind: 'failed', phase: 'deadline', code: 'ETIMEDOUT', detail: 'timed out after 5s' }

function setUp() {
  const clock = new ManualClock()
  const sent: Sent[] = []
  const asked: ((answer: TokenAnswer) => void)[] = []
  const authorize = createAuthorize({
    transport: { post: (given, end) => void sent.push({ call: given, end }) },
    client: { post: (_call, onEnd) => void asked.push(onEnd) },
    clock,
    timeout: durationMs(5_000),
    metrics: countingMetrics(new Map()),
    logger: silent,
    userAgent: () => 'Hookline',
  })
  const destination = destinationOf({ auth: { oauth2: oauth2Of() } })
  const transport = authorize(destination, undefined)!
  const results: CallResult[] = []
  const post = (given: Partial<WebhookCall> = {}): void =>
    transport.post({ ...call, ...given }, result => results.push(result))
  const issue = (value: string): void =>
    asked.shift()!({ kind: 'answered', status: 200, retryAfter: undefined, body: `{"access_token":"${value}"}` })
  const advance = (ms: number): Promise<void> => clock.advance(ms, () => new Promise(resolve => setImmediate(resolve)))
  return { clock, sent, asked, post, issue, advance, results, transport, authorize, destination }
}

describe('the time limit of a request', () => {
  it('is that of the transport when the token is there', async () => {
    const { sent, post, issue } = setUp()
    post()
    issue('t1')
    post()
    post({ timeoutMs: durationMs(3_000) })
    expect(sent.slice(1).map(each => each.call.timeoutMs)).toEqual([undefined, 3_000])
  })

  it('includes the wait for the token, in steps of 100 ms', async () => {
    const { sent, post, issue, advance } = setUp()
    post()
    post({ timeoutMs: durationMs(2_000) })
    await advance(1_234)
    issue('t1')
    expect(sent.map(each => each.call.timeoutMs)).toEqual([3_800, 800])
  })

  it('includes the first request when a refused token is replaced', async () => {
    const { sent, post, issue, advance } = setUp()
    post()
    issue('t1')
    await advance(2_000)
    sent[0]!.end(answered(401))
    await advance(500)
    issue('t2')
    expect(sent[1]!.call).toMatchObject({ timeoutMs: 2_500, headers: { 'X-A': '1', Authorization: 'Bearer t2' } })
  })

  it('ends the wait for a token, and a later delivery uses the late token', async () => {
    const { sent, post, issue, advance, results, asked } = setUp()
    post()
    await advance(5_000)
    expect(results).toMatchObject([{ kind: 'failed', phase: 'auth', code: 'timeout' }])
    issue('t1')
    post()
    expect(sent.map(each => each.call.headers['Authorization'])).toEqual(['Bearer t1'])
    expect(asked).toEqual([])
  })

  it.each([
    ['the authorization server when it has left the endpoint less than half of it', 2_600, 'auth'],
    ['the endpoint when the authorization server was quick', 2_400, 'deadline'],
  ])('blames %s', async (_, waitMs, phase) => {
    const { sent, post, issue, advance, results } = setUp()
    post()
    await advance(waitMs)
    issue('t1')
    sent[0]!.end(timedOut)
    expect(results).toMatchObject([{ kind: 'failed', phase }])
  })
})

describe('a request', () => {
  it('never ends before post has returned, although no token is available', async () => {
    const { post, asked, results, advance } = setUp()
    post()
    asked.shift()!({ kind: 'failed', phase: 'dns', code: 'ENOTFOUND', detail: 'no such host' })
    post()
    expect(results).toHaveLength(1)
    await advance(0)
    expect(results).toEqual(Array(2).fill({ kind: 'failed', phase: 'auth', code: 'dns', detail: 'no such host' }))
    expect(asked).toEqual([])
  })

  it('is repeated only once after a 401, and then fails with auth if the endpoint accepts tokens', () => {
    const { sent, post, issue, asked, results } = setUp()
    post()
    issue('t1')
    sent[0]!.end(answered(401))
    issue('t2')
    post()
    sent[2]!.end(ok)
    sent[1]!.end(answered(401))
    expect(results).toMatchObject([ok, { kind: 'failed', phase: 'auth', code: 'http_4xx' }])
    expect([sent.length, asked]).toEqual([3, []])
  })

  it('is repeated only once after a 401, and the second 401 is the result after two minutes without a 2xx', async () => {
    const { sent, post, issue, asked, results, advance } = setUp()
    post()
    issue('t1')
    sent[0]!.end(answered(401))
    issue('t2')
    sent[1]!.end(answered(401))
    await advance(120_000)
    post()
    sent[2]!.end(answered(401))
    issue('t3')
    sent[3]!.end(answered(401))
    expect(results).toMatchObject([{ kind: 'failed', phase: 'auth', code: 'http_4xx' }, answered(401)])
    expect([sent.length, asked]).toEqual([4, []])
  })

  it.each([204, 302, 404, 429, 503])(
    'is deferred after two 401 for over two minutes only if the endpoint responded with 2xx before: %i',
    async status => {
      const { sent, post, issue, results, advance } = setUp()
      post()
      issue('t1')
      sent[0]!.end(answered(status))
      post()
      sent[1]!.end(answered(401))
      issue('t2')
      await advance(120_000)
      sent[2]!.end(answered(401))
      const expected = status === 204 ? { kind: 'failed', phase: 'auth' } : answered(401)
      expect(results).toMatchObject([answered(status), expected])
    },
  )

  it('fails with auth after a 401 within 5 s after a replacement, and the token stays in use', async () => {
    const { sent, post, issue, asked, results, advance } = setUp()
    post()
    issue('t1')
    sent[0]!.end(ok)
    post()
    sent[1]!.end(answered(401))
    issue('t2')
    sent[2]!.end(ok)
    await advance(4_999)
    post()
    sent[3]!.end(answered(401))
    expect(results).toMatchObject([ok, ok, { kind: 'failed', phase: 'auth', code: 'http_4xx' }])
    expect(asked).toEqual([])
    post()
    await advance(1)
    sent[4]!.end(answered(401))
    expect(sent[4]!.call.headers['Authorization']).toBe('Bearer t2')
    expect(asked).toHaveLength(1)
  })

  it('fails with auth when the token cannot be replaced after a 401', () => {
    const { sent, post, issue, asked, results } = setUp()
    post()
    issue('t1')
    sent[0]!.end(answered(401))
    asked.shift()!({ kind: 'answered', status: 500, retryAfter: undefined, body: '' })
    expect(results).toMatchObject([{ kind: 'failed', phase: 'auth', code: 'http_5xx' }])
  })

  it('has its access token in a result with a body, which the endpoint may repeat in the body', () => {
    const { sent, post, issue, results } = setUp()
    post()
    issue('t1')
    const body = { bytes: Buffer.from('Bearer t1'), isTruncated: false, contentEncoding: undefined }
    sent[0]!.end({ kind: 'answered', status: 200, retryAfter: undefined, body })
    const [result] = results
    expect(result).toMatchObject({ ...ok, body })
    expect(result?.kind === 'answered' && result.accessToken?.reveal()).toBe('t1')
  })

  it('leaves no timer', async () => {
    const { clock, sent, post, issue } = setUp()
    post()
    issue('t1')
    sent[0]!.end(ok)
    expect(clock.timers).toBe(0)
  })
})

describe('a change of the configuration', () => {
  it('keeps the transport while the OAuth2 settings are the same', () => {
    const { authorize, transport, destination } = setUp()
    expect(authorize({ ...destination, auth: { oauth2: oauth2Of() } }, transport)).toBe(transport)
  })

  it.each([
    ['the scopes', { scopes: ['a'] }],
    ['the token URL', { tokenUrl: 'https://other.example.com/' }],
  ])('makes a new one when it changes %s', (_, given) => {
    const { authorize, transport, destination } = setUp()
    expect(authorize({ ...destination, auth: { oauth2: oauth2Of(given) } }, transport)).not.toBe(transport)
  })
})
