import { describe, expect, it } from '@jest/globals'
import { Secret } from '../../../../src/core/secret.ts'
import type { OAuth2Settings } from '../../../../src/core/settings/settings.ts'
import { durationMs } from '../../../../src/core/time.ts'
import type { TokenAnswer, WebhookCall } from '../../../../src/core/webhook-ports.ts'
import { oauth2Of, webhookOf } from '../../../support/builders.ts'
import { trackMessage } from '../../../support/collector/normalised-track-message.ts'
import { answered, DispatcherHarness, destination, ok } from '../../../support/dispatcher/harness.ts'

const second = 1_000
const hour = 3_600_000

function tokenServer(seconds = 3_600) {
  let issued = 0
  const state = { isDown: false }
  const answerToken = (): TokenAnswer => ({
    kind: 'answered',
    status: state.isDown ? 503 : 200,
    retryAfter: undefined,
    body: state.isDown ? '' : JSON.stringify({ access_token: `t${++issued}`, expires_in: seconds }),
  })
  return { state, answerToken }
}

const crm = (given: Partial<OAuth2Settings> = {}) => destination('crm', { auth: { oauth2: oauth2Of(given) } })
const tokenOf = ({ headers }: WebhookCall): string | undefined => headers['Authorization']
const tokensOf = ({ calls }: DispatcherHarness) => calls.map(({ call }) => tokenOf(call))

async function started(options: ConstructorParameters<typeof DispatcherHarness>[0] = {}) {
  return DispatcherHarness.started({ destinations: [crm()], ...options })
}

describe('a destination with OAuth2', () => {
  it('gets each request with the access token, requested once for concurrent deliveries', async () => {
    const harness = await started({ answerToken: tokenServer().answerToken })
    for (let index = 0; index < 20; index++)
      harness.write({ message: trackMessage(`m${index}`, { userId: `u${index}` }) })
    await harness.advance(second)
    expect(tokensOf(harness)).toEqual(Array(20).fill('Bearer t1'))
    expect(harness.tokenRequests).toHaveLength(1)
    expect(harness.count('deliveries{crm,delivered}')).toBe(20)
    expect(harness.count('tokenRequests{crm,issued}')).toBe(1)
  })

  it('gets a new token before the old one expires, without a wait', async () => {
    const harness = await started({ answerToken: tokenServer(100).answerToken })
    for (const at of [0, 50, 79, 81, 82]) {
      await harness.advance(durationMs(at * second - harness.clock.monotonic()))
      harness.write({ message: trackMessage(`m${at}`) })
      await harness.advance(1)
    }
    // The request at 81 s starts the renewal of the token, but is sent with the old token.
    expect(tokensOf(harness)).toEqual(['t1', 't1', 't1', 't1', 't2'].map(token => `Bearer ${token}`))
    expect(harness.tokenRequests).toHaveLength(2)
  })

  it('keeps its token over a reload, and gets another one when the client secret changes', async () => {
    const harness = await started({ answerToken: tokenServer().answerToken })
    const deliver = async (id: string) => {
      harness.write({ message: trackMessage(id) })
      await harness.advance(second)
    }
    await deliver('m1')
    harness.destinations = [crm()]
    await deliver('m2')
    harness.destinations = [crm({ clientSecret: new Secret('another-secret') })]
    await deliver('m3')
    expect(tokensOf(harness)).toEqual(['Bearer t1', 'Bearer t1', 'Bearer t2'])
    const [, last] = harness.tokenRequests
    expect(Buffer.from(last!.headers['Authorization']!.slice(6), 'base64').toString()).toBe('hookline:another-secret')
  })

  it('has a token of its own although another destination has the same settings', async () => {
    const destinations = [crm(), destination('erp', { auth: { oauth2: oauth2Of() } })]
    const harness = await started({ destinations, answerToken: tokenServer().answerToken })
    harness.write({ message: trackMessage('m1') })
    await harness.advance(second)
    expect(tokensOf(harness).toSorted()).toEqual(['Bearer t1', 'Bearer t2'])
  })
})

describe('a refused token', () => {
  it('is replaced once within the attempt', async () => {
    const answer = (call: WebhookCall) => (tokenOf(call) === 'Bearer t1' ? answered(401) : ok)
    const harness = await started({ answer, answerToken: tokenServer().answerToken })
    harness.write({ message: trackMessage('m1') })
    await harness.advance(second)
    expect(tokensOf(harness)).toEqual(['Bearer t1', 'Bearer t2'])
    expect(harness.count('deliveries{crm,delivered}')).toBe(1)
    expect(harness.count('webhookCalls{crm,0,delivered}')).toBe(1)
    expect(harness.count('webhookCalls{crm,0,http_4xx}')).toBe(0)
  })

  it('does not end a delivery for two minutes; then 401 is the outcome', async () => {
    const harness = await started({ answer: () => answered(401), answerToken: tokenServer().answerToken })
    for (const id of ['m1', 'm2', 'm3']) {
      harness.write({ message: trackMessage(id) })
      await harness.advance(second)
    }
    expect(tokensOf(harness)).toEqual(['Bearer t1', 'Bearer t2', 'Bearer t2', 'Bearer t2'])
    expect(harness.tokenRequests).toHaveLength(2)
    await harness.advance(100 * second)
    expect(harness.count('deadLetters{crm,http_4xx}')).toBe(0)
    await harness.advance(hour)
    expect(harness.count('deadLetters{crm,http_4xx}')).toBe(3)
    harness.write({ message: trackMessage('m4') })
    await harness.advance(second)
    expect(harness.count('deadLetters{crm,http_4xx}')).toBe(4)
  })

  it('is not a dead letter when another process invalidates the new token too', async () => {
    let invalid: readonly string[] = []
    const answer = (call: WebhookCall) => (invalid.includes(tokenOf(call) ?? '') ? answered(401) : ok)
    const harness = await started({ answer, answerToken: tokenServer().answerToken })
    harness.write({ message: trackMessage('m1') })
    await harness.advance(second)
    invalid = ['Bearer t1', 'Bearer t2']
    for (const id of ['m2', 'm3']) {
      harness.write({ message: trackMessage(id) })
      await harness.advance(second)
    }
    expect(harness.count('webhookCalls{crm,0,auth}')).toBe(2)
    expect(harness.tokenRequests).toHaveLength(2)
    await harness.advance(hour)
    expect(harness.count('deliveries{crm,delivered}')).toBe(3)
    expect(harness.count('deferrals{auth}')).toBe(2)
    expect(harness.tokenRequests).toHaveLength(3)
    expect(harness.log.records(harness.topics.deadLetter)).toEqual([])
  })

  it('after a credential was withdrawn, is the outcome from ten minutes after the last acceptance', async () => {
    let isWithdrawn = false
    const harness = await started({
      answer: () => (isWithdrawn ? answered(401) : ok),
      answerToken: tokenServer().answerToken,
    })
    harness.write({ message: trackMessage('m1') })
    await harness.advance(second)
    isWithdrawn = true
    harness.write({ message: trackMessage('m2') })
    await harness.advance(9 * 60 * second)
    expect(harness.count('deadLetters{crm,http_4xx}')).toBe(0)
    await harness.advance(hour / 2)
    expect(harness.count('deadLetters{crm,http_4xx}')).toBe(1)
  })

  it('is replaced once for all requests that used it', async () => {
    const answer = (call: WebhookCall) => (tokenOf(call) === 'Bearer t1' ? answered(401) : ok)
    const harness = await started({ answer, answerToken: tokenServer().answerToken })
    for (let index = 0; index < 20; index++)
      harness.write({ message: trackMessage(`m${index}`, { userId: `u${index}` }) })
    await harness.advance(second)
    expect(harness.tokenRequests).toHaveLength(2)
    expect(harness.count('deliveries{crm,delivered}')).toBe(20)
  })
})

describe('an authorization server that fails', () => {
  it('defers deliveries without using up the schedule or opening the circuit breaker', async () => {
    const server = tokenServer()
    server.state.isDown = true
    const harness = await started({
      answerToken: server.answerToken,
      delivery: { schedule: [durationMs(10 * second)] },
    })
    for (let index = 0; index < 50; index++)
      harness.write({ message: trackMessage(`m${index}`, { userId: `u${index}` }) })
    await harness.advance(2 * hour)
    expect(harness.calls).toEqual([])
    expect(harness.gauge('breakersOpen{crm}')).toBeUndefined()
    expect(harness.log.records(harness.topics.deadLetter)).toEqual([])
    // After some failures, only one token request per minute is sent.
    expect(harness.tokenRequests.length).toBeLessThan(130)
    server.state.isDown = false
    await harness.advance(hour)
    expect(harness.count('deliveries{crm,delivered}')).toBe(50)
    expect(harness.count('deferrals{auth}')).toBeGreaterThan(50)
    expect(harness.count('tokenRequests{crm,http_5xx}')).toBeGreaterThan(2)
    expect(harness.count('firstAttemptDelay{}')).toBe(50)
  })

  it('ends with a dead letter after the retry window', async () => {
    const server = tokenServer()
    server.state.isDown = true
    const harness = await started({ answerToken: server.answerToken })
    harness.write({ message: trackMessage('m1') })
    await harness.advance(3.9 * hour)
    expect(harness.log.records(harness.topics.deadLetter)).toEqual([])
    await harness.advance(hour)
    const [deadLetter] = harness.log.records(harness.topics.deadLetter)
    expect(deadLetter?.headers).toMatchObject({ reason: 'retry_window_over', outcomes: 'auth' })
  })

  it('does not delay other destinations', async () => {
    const harness = await started({ destinations: [crm(), destination('erp')], answerToken: () => 'never' })
    harness.write({ message: trackMessage('m1') })
    await harness.advance(10)
    expect(harness.calls.map(({ call }) => call.url)).toEqual(['https://erp.example.com/'])
  })

  it('that does not respond fails the request at its time limit', async () => {
    const harness = await started({ answerToken: () => 'never' })
    harness.write({ message: trackMessage('m1') })
    await harness.advance(4.9 * second)
    expect(harness.count('webhookCalls{crm,0,auth}')).toBe(0)
    await harness.advance(200)
    expect(harness.count('webhookCalls{crm,0,auth}')).toBe(1)
    expect(harness.tokenRequests).toHaveLength(1)
  })

  it('is logged once per token request, without the secret', async () => {
    const server = tokenServer()
    server.state.isDown = true
    const harness = await started({ answerToken: server.answerToken })
    harness.write({ message: trackMessage('m1') })
    await harness.advance(second / 2)
    server.state.isDown = false
    await harness.advance(hour)
    const lines = harness.lines.filter(({ line }) => line.includes('token request'))
    expect(lines).toMatchObject([
      {
        level: 'warn',
        fields: {
          destination: 'crm',
          outcome: 'http_5xx',
          detail: 'the token endpoint responded with 503',
          retryInMs: 1_000,
        },
      },
      { level: 'info', fields: { destination: 'crm' } },
    ])
    expect(JSON.stringify(harness.lines)).not.toMatch(/client-secret-of-crm|t1/)
  })
})

describe('several webhooks of one destination', () => {
  it('share the token; one that refuses it does not stop the others', async () => {
    const webhooks = [webhookOf(0), webhookOf(1)]
    const answer = ({ url }: WebhookCall) => (url.endsWith('/1') ? answered(401) : ok)
    const harness = await started({
      destinations: [{ ...crm(), webhooks }],
      answer,
      answerToken: tokenServer().answerToken,
    })
    for (let index = 0; index < 10; index++) {
      harness.write({ message: trackMessage(`m${index}`) })
      await harness.advance(second)
    }
    expect(harness.count('deliveries{crm,delivered}')).toBe(10)
    expect(harness.tokenRequests).toHaveLength(3)
  })
})
