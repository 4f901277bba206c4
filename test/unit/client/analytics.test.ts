import { afterEach, describe, expect, it, jest } from '@jest/globals'
import { Analytics } from '../../../packages/client/src/analytics.ts'
import { Closed, ConfigError, FieldError } from '../../../packages/client/src/errors.ts'
import type { Failure } from '../../../packages/client/src/failure.ts'
import type { AnalyticsOptions, QueueOptions } from '../../../packages/client/src/options.ts'
import type { SendResult, Transport } from '../../../packages/client/src/transport.ts'
import { closingAfterEach } from '../../support/cleanup.ts'
import { answer, type Script, startScriptedServer } from '../../support/webhook/scripted-tcp-server.ts'

const closing = closingAfterEach()
const ok = answer(200, {}, '{"success":true}')
afterEach(() => {
  jest.restoreAllMocks()
})

/**
 * The nth request, on any connection, gets the nth response. Later requests get the last response.
 */
function answering(...texts: readonly string[]): Script {
  let turn = 0
  return async peer => {
    while ((await peer.request()) !== undefined) peer.send(texts[Math.min(turn++, texts.length - 1)] as string)
  }
}

async function clientOf(script: Script, options: Partial<AnalyticsOptions> = {}) {
  const receiver = closing(await startScriptedServer(script))
  const analytics = closing(new Analytics('key', { endpoint: `http://127.0.0.1:${receiver.port}`, ...options }))
  const batches = (): { type: string; messageId: string }[][] =>
    receiver.requests.map(({ body }) => JSON.parse(body).batch)
  return { receiver, analytics, batches }
}

describe('a client', () => {
  it('sends all six calls in order in one batch', async () => {
    const { analytics, batches, receiver } = await clientOf(answering(ok))
    analytics.identify({ userId: 'u', traits: { plan: 'pro' } })
    analytics.track({ userId: 'u', event: 'Signed up' })
    analytics.page({ userId: 'u', name: 'Home' })
    analytics.screen({ userId: 'u', name: 'Main' })
    analytics.group({ userId: 'u', groupId: 'g' })
    analytics.alias({ userId: 'new', previousId: 'u' })
    await analytics.close()
    expect(batches().map(batch => batch.map(({ type }) => type))).toEqual([
      ['identify', 'track', 'page', 'screen', 'group', 'alias'],
    ])
    expect(receiver.requests[0]?.path).toBe('/v1/batch')
    expect(analytics.counts).toEqual({ queued: 6, sent: 6, failed: 0, dropped: 0, waiting: 0 })
  })

  it('opens no connection before the first message', async () => {
    const { analytics, receiver } = await clientOf(answering(ok))
    await analytics.flush()
    await analytics.close()
    expect(receiver.connections()).toBe(0)
  })

  it('retries the same messages with the same batch id and a retry count', async () => {
    const { analytics, receiver, batches } = await clientOf(answering(answer(503), ok))
    analytics.track({ userId: 'u', event: 'E' })
    await analytics.flush()
    expect(batches()[1]).toEqual(batches()[0])
    const [first, second] = receiver.requests.map(({ body }) => JSON.parse(body))
    expect(second.messageId).toBe(first.messageId)
    expect(Date.parse(second.sentAt)).toBeGreaterThan(Date.parse(first.sentAt))
    expect(receiver.requests[1]?.headers).toContainEqual(['x-retry-count', '1'])
  })

  it('reports sent and failed messages to listeners', async () => {
    const sent: string[] = []
    const failures: Failure[] = []
    const rejected = [{ index: 0, messageId: 'a', code: 'too_deep', message: 'Flatten it.' }]
    const script = answering(answer(200, {}, JSON.stringify({ success: true, rejected })), answer(401))
    const { analytics } = await clientOf(script, {
      onSent: ids => sent.push(...ids),
      onFailure: failure => failures.push(failure),
    })
    analytics.track({ userId: 'u', event: 'A', messageId: 'a' })
    analytics.track({ userId: 'u', event: 'B', messageId: 'b' })
    await analytics.flush()
    analytics.track({ userId: 'u', event: 'C', messageId: 'c' })
    await analytics.flush()
    expect(sent).toEqual(['b'])
    expect(failures).toMatchObject([
      { reason: 'rejected', code: 'too_deep', detail: 'Flatten it.', messages: [{ type: 'track', event: 'A' }] },
      { reason: 'refused', code: 'http_401', messageIds: ['c'] },
    ])
  })

  it('writes failures to stderr without a listener', async () => {
    const stderr = jest.spyOn(process.stderr, 'write').mockReturnValue(true)
    const { analytics } = await clientOf(answering(answer(400)))
    analytics.track({ userId: 'u', event: 'E' })
    await analytics.close()
    expect(stderr.mock.calls.map(([text]) => text)).toEqual([
      expect.stringMatching(
        /^hookline analytics: 1 message not delivered: refused \(http_400\)\. The collector responded with status 400\./,
      ),
    ])
  })

  const fail = () => {
    throw new Error('a bug of mine')
  }
  it.each([
    ['a listener', fail],
    ['an async listener', async () => fail()],
  ])('logs the error of %s and continues', async (_, onSent) => {
    const stderr = jest.spyOn(process.stderr, 'write').mockReturnValue(true)
    const { analytics } = await clientOf(answering(ok), { onSent, size: 1 })
    analytics.track({ userId: 'u', event: 'E' })
    analytics.track({ userId: 'u', event: 'E' })
    await analytics.close()
    expect(analytics.counts).toMatchObject({ sent: 2 })
    expect(stderr.mock.calls.map(([text]) => text)).toEqual(Array(2).fill(expect.stringContaining('a bug of mine')))
  })

  it('throws for an invalid call and queues nothing', async () => {
    const { analytics } = await clientOf(answering(ok))
    expect(() => analytics.track({ event: 'E' })).toThrow(
      new FieldError('missing_id', "You must pass either an 'anonymousId' or 'userId'."),
    )
    expect(analytics.counts.queued).toBe(0)
  })

  it('throws at every call after close, except flush and close', async () => {
    const { analytics } = await clientOf(answering(ok))
    await analytics.close()
    expect(() => analytics.track({ userId: 'u', event: 'E' })).toThrow(Closed)
    expect(() => analytics.identify({})).toThrow(Closed)
    await analytics.flush()
    await analytics.close()
  })

  it.each([-1, Number.NaN, 2 ** 31, '5' as unknown as number])('close rejects timeoutMs %p', async timeoutMs => {
    const { analytics } = await clientOf(answering(ok))
    await expect(analytics.close({ timeoutMs })).rejects.toThrow(ConfigError)
  })
})

describe('another transport', () => {
  function clientOver(result: SendResult, options: QueueOptions = {}) {
    const happened: string[] = []
    const transport: Transport = {
      envelopeBytes: 0,
      async send({ messages }) {
        happened.push(`sent ${messages.map(({ messageId }) => messageId)}`)
        return result
      },
      async close() {
        happened.push('closed')
      },
    }
    return { happened, analytics: new Analytics({ transport, ...options }) }
  }

  it('gets the same messages as HTTP and is closed after the last one', async () => {
    const { analytics, happened } = clientOver({ kind: 'taken', rejected: [] }, { size: 2 })
    for (const messageId of ['a', 'b', 'c']) void analytics.track({ userId: 'u', event: 'E', messageId })
    await analytics.close()
    expect(happened).toEqual(['sent a,b', 'sent c', 'closed'])
    expect(analytics.counts).toMatchObject({ queued: 3, sent: 3 })
  })

  it('is closed when the time limit of close() is reached', async () => {
    const trouble = { code: 'ECONNREFUSED', detail: 'Nobody is there.' }
    const onFailure = () => {}
    const { analytics, happened } = clientOver({ kind: 'retry', trouble, retryAfterMs: undefined }, { onFailure })
    void analytics.track({ userId: 'u', event: 'E', messageId: 'a' })
    await analytics.close({ timeoutMs: 1 })
    expect(happened).toEqual(['sent a', 'closed'])
    expect(analytics.counts).toMatchObject({ queued: 1, failed: 1 })
  })
})
