import { beforeEach, describe, expect, it } from '@jest/globals'
import { shardOf } from '../../../../../src/core/live-status/result-counts-of-this-process.ts'
import { encodeKey } from '../../../../../src/core/live-status/status-record.ts'
import { LiveSums } from '../../../../../src/core/live-status/status-sums-of-all-processes.ts'
import { epochMs } from '../../../../../src/core/time.ts'
import type { CallResult, WebhookTransport } from '../../../../../src/core/webhook-ports.ts'
import { closingAfterEach } from '../../../../support/cleanup.ts'
import { noStatusView } from '../../../../support/operator/no-status-view.ts'
import { objectsCommand } from '../../../../support/operator/run-operator-api-commands.ts'

const closing = closingAfterEach()
let result: CallResult
const transport: WebhookTransport = {
  post: (_call, onEnd) => void setImmediate(() => onEnd(result)),
  hasIdleConnection: () => false,
  close: async () => {},
}
let installation: Awaited<ReturnType<typeof objectsCommand>>
beforeEach(async () => {
  installation = closing(await objectsCommand({ transport }))
  const webhooks = [{ id: 'main', url: 'https://crm.example.com/hooks' }]
  await installation.put('destination', { id: 'crm', sources: ['web'], sharedSecret: 'a secret', webhooks })
})
const destinations = (...argv: readonly string[]) => installation.run(['destinations', ...argv])

describe('status', () => {
  it('prints the circuit breaker, the queues and the results', async () => {
    const { code, out, err } = await destinations('status', 'crm')
    expect([code, err]).toEqual([0, ''])
    expect(out.replaceAll(/\d{4}-\S+Z/g, 'TIME')).toBe(
      [
        'crm: enabled',
        'circuit breaker: closed',
        'requests in progress: 0',
        'deliveries that wait in memory for an attempt: 0',
        'RESULTS    DELIVERED  FAILED ATTEMPTS  DEAD-LETTERED  DROPPED  SINCE',
        'last hour  0          0                0              0        TIME',
        'last day   0          0                0              0        TIME',
        '',
      ].join('\n'),
    )
  })

  it('prints how an endpoint with 429 and Retry-After slows its destination down', async () => {
    const sums = new LiveSums()
    const now = epochMs(Date.now())
    const pausedUntil = now + 60_000
    const activity = Buffer.from(JSON.stringify({ filed: { pace: 2.5, pausedUntil } }))
    sums.apply(encodeKey({ kind: 'process', instance: 'pod' }), Buffer.from('{}'), now)
    sums.apply(encodeKey({ kind: 'activity', instance: 'pod', shard: shardOf('filed') }), activity, now)
    const slowed = closing(await objectsCommand({ live: { ...noStatusView, sums } }))
    const { out } = await slowed.run(['destinations', 'status', 'filed'])
    expect(out.split('\n').slice(4, 6)).toEqual([
      'attempts are limited to 2.5 per second now, because the endpoint responded with 429',
      `attempts are paused until ${new Date(pausedUntil).toISOString()}, because the endpoint responded with Retry-After`,
    ])
  })

  it('prints JSON', async () => {
    const { out } = await destinations('status', 'crm', '--json')
    expect(JSON.parse(out)).toMatchObject({ id: 'crm', version: 1, circuitBreaker: { state: 'closed' }, problems: [] })
  })

  it('fails for a destination that does not exist', async () => {
    expect(await destinations('status', 'cmr')).toMatchObject({
      code: 1,
      err: 'hookline: no destination has the id cmr; see: hookline destinations list\n',
    })
  })
})

describe('test', () => {
  it.each<[string, string, Partial<NonNullable<Extract<CallResult, { kind: 'answered' }>['body']>>, readonly string[]]>(
    [
      ['a text', 'ok\r\nsecond line\n', {}, ['  response:', '    ok', '    second line']],
      ['the beginning of a text', 'ok', { isTruncated: true }, ['  response (only the beginning):', '    ok']],
      ['nothing', '', {}, ['  response: empty']],
      ['control characters', 'a\u001b[2Jb', {}, ['  response:', '    a\ufffd[2Jb']],
      [
        'a compressed body',
        'x',
        { contentEncoding: 'gzip' },
        ['  response: not shown, because it is compressed with gzip'],
      ],
    ],
  )('prints the body of the response: %s', async (_name, text, more, lines) => {
    const body = { bytes: Buffer.from(text), isTruncated: false, contentEncoding: undefined, ...more }
    result = { kind: 'answered', status: 200, retryAfter: undefined, body }
    const { code, out } = await destinations('test', 'crm')
    expect(code).toBe(0)
    expect(out.trimEnd().split('\n').slice(-lines.length)).toEqual(lines)
  })

  it('prints no body without a response', async () => {
    result = { kind: 'failed', phase: 'connect', code: 'ECONNREFUSED', detail: 'refused' }
    expect((await destinations('test', 'crm')).out).not.toContain('response')
  })
})
