import { expect, it } from '@jest/globals'
import { closingAfterEach } from '../support/cleanup.ts'
import { until } from '../support/kafka/admin.ts'
import { startInstallation, type TestInstallation, webKey } from '../support/process/test-installation.ts'
import { testSecret } from '../support/secret-scan/make-and-find-test-secrets.ts'
import { OtlpReceiver } from '../support/telemetry/otlp-receiver.ts'
import { traceparent } from '../support/telemetry/traceparent.ts'
import { RecordingReceiver } from '../support/webhook/recording-receiver.ts'

const closing = closingAfterEach()
const kinds = { server: 2, client: 3, producer: 4, consumer: 5 } as const
/** Headers that the tracing instrumentation of a sender can add. */
const everything = {
  ...{ traceparent: traceparent('a'), tracestate: 'vendor=1', baggage: 'user=somebody' },
  ...{ b3: `${'a'.repeat(32)}-${'a'.repeat(16)}-1`, 'x-b3-traceid': 'a'.repeat(32), 'uber-trace-id': 'a:b:0:1' },
}

/**
 * Two endpoints, of which only one gets trace headers. Each responds first with 503 and then with
 * 200.
 */
async function endpoints() {
  const [asks, other] = await Promise.all([1, 2].map(() => RecordingReceiver.started({ answers: [503, 200] })))
  return { asks: closing(asks!), other: closing(other!) }
}

/** The receiver of the trace data fails if it gets one of these secrets. */
const secrets = {
  sharedSecret: testSecret('shared'),
  headers: { Authorization: `Bearer ${testSecret('token')}` },
}
const operatorKey = testSecret('operator-key')
const at = (id: string, webhook: object): object => {
  const { sharedSecret, headers } = secrets
  return { id, sources: ['web'], sharedSecret, webhooks: [{ ...webhook, headers }] }
}

const destinations = ({ asks, other }: { asks: RecordingReceiver; other: RecordingReceiver }): object[] => [
  at('asks', { url: `${asks.url}/${testSecret('path')}`, traceHeaders: true }),
  at('other', { url: other.url }),
]

async function send(
  installation: TestInstallation,
  collector: string | undefined,
  headers: Record<string, string>,
): Promise<void> {
  const response = await fetch(`${collector}/v1/track`, {
    method: 'POST',
    headers: { 'x-write-key': webKey, ...headers },
    body: JSON.stringify({ userId: 'u1', event: 'Opened', messageId: 'm1' }),
  })
  expect(await response.json()).toEqual({ success: true })
  expect(await installation.read(installation.topics.events)).toHaveLength(1)
}

const tracing = /trace|baggage|b3/i
const toldTo = (webhookReceiver: RecordingReceiver): string[][] =>
  webhookReceiver.requests.map(({ headers }) =>
    Object.keys(headers)
      .filter(name => tracing.test(name))
      .sort(),
  )

it('a trace follows a message from its request to each webhook request, over a retry; only chosen endpoints get it', async () => {
  const receiver = closing(await OtlpReceiver.started())
  const webhookReceivers = await endpoints()
  const configuration = {
    delivery: { schedule: ['1s'] },
    destinations: destinations(webhookReceivers),
    // With 0, Hookline keeps only traces that the sender has sampled.
    traces: { endpoint: receiver.url, sample: 0 },
  }
  const installation = closing(await startInstallation(configuration))
  const environment = {
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    OTEL_EXPORTER_OTLP_HEADERS: 'x-key=k',
  }
  const service = await installation.run(environment)
  await send(installation, service.collector, everything)
  await Promise.all([webhookReceivers.asks.untilDelivered(1), webhookReceivers.other.untilDelivered(1)])
  // The 10 spans: the request, its append, and for each of two destinations two attempts with one
  // webhook request each.
  await receiver.until(() => receiver.spans.length >= 10)

  const of = (kind: keyof typeof kinds) => receiver.spans.filter(span => span.kind === kinds[kind])
  const [request] = of('server')
  const [append] = of('producer')
  expect(request).toMatchObject({ name: 'POST /v1/track', traceId: 'a'.repeat(32), parentSpanId: 'a'.repeat(16) })
  expect(append).toMatchObject({ traceId: 'a'.repeat(32), parentSpanId: request?.spanId })
  const [event] = await installation.read(installation.topics.events)
  expect(event?.headers).toEqual({ traceparent: `00-${append?.traceId}-${append?.spanId}-01`, tracestate: 'vendor=1' })
  for (const id of ['asks', 'other']) {
    const attempts = of('consumer').filter(span => span.attributes['hookline.destination'] === id)
    const [first, second] = attempts.sort(
      (a, b) => Number(a.attributes['hookline.attempt']) - Number(b.attributes['hookline.attempt']),
    )
    expect(first).toMatchObject({ traceId: 'a'.repeat(32), parentSpanId: append?.spanId })
    expect(second?.traceId).not.toBe(first?.traceId)
    expect(second?.parentSpanId).toBeUndefined()
    expect(second?.links).toEqual([expect.objectContaining({ traceId: first?.traceId, spanId: first?.spanId })])
  }
  expect(receiver.resources[0]).toMatchObject({ 'service.name': 'hookline', 'deployment.environment.name': 'test' })
  expect(receiver.headers[0]).toMatchObject({ 'x-key': 'k' })

  expect(toldTo(webhookReceivers.other)).toEqual([[], []])
  expect(toldTo(webhookReceivers.asks)).toEqual([['traceparent', 'tracestate'], ['traceparent']])
  const told = webhookReceivers.asks.requests.map(({ headers }) => headers['traceparent'])
  const calls = of('client').map(({ traceId, spanId }) => `00-${traceId}-${spanId}-01`)
  expect(calls).toEqual(expect.arrayContaining(told))
  const lines = (await installation.log()).filter(({ msg }) => msg === 'delivery attempted')
  expect(lines.length).toBeGreaterThan(1)
  expect(new Set(lines.map(({ traceId }) => traceId))).toEqual(new Set(['a'.repeat(32)]))
})

it('a trace follows a sync and a deletion to each webhook request', async () => {
  const receiver = closing(await OtlpReceiver.started())
  const webhookReceiver = closing(await RecordingReceiver.started())
  const installation = closing(
    await startInstallation({
      operator: { listen: '127.0.0.1:0', keys: [{ name: 'ada', role: 'operate', key: operatorKey }] },
      destinations: [at('crm', { url: webhookReceiver.url })],
      audiences: { list: [{ name: 'Shoppers', destinations: ['crm'] }] },
      traces: { endpoint: receiver.url, sample: 0 },
    }),
  )
  const service = await installation.run()
  const ask = async (path: string, digit: string, body: string): Promise<void> => {
    const headers = { authorization: `Bearer ${operatorKey}`, traceparent: traceparent(digit) }
    const response = await fetch(`${service.operator}${path}`, { method: 'POST', headers, body })
    expect(response.status).toBe(202)
    await response.text()
  }
  const named = (name: string) => receiver.spans.filter(span => span.name === name)
  const [input, identify] = [`process ${installation.topics.audienceInput}`, `send ${installation.topics.events}`]
  const observations = () => named(input).filter(({ attributes }) => attributes['hookline.input'] === 'observed')

  await ask('/v1/audiences/Shoppers/syncs', 'a', 'somebody\nelse-body')
  const requests = () => named('POST /v1/audiences/:name/syncs')
  // The span of an attempt or of an input ends after its child spans, so the child spans have then
  // arrived too. The span of the request can end last.
  await receiver.until(
    () =>
      named('deliver crm').length === 2 &&
      named('POST').length === 2 &&
      observations().length === 2 &&
      requests().length === 1,
  )
  const [request] = requests()
  expect(request).toMatchObject({ kind: kinds.server, traceId: 'a'.repeat(32), parentSpanId: 'a'.repeat(16) })
  for (const observation of observations()) {
    expect(observation.parentSpanId).toBeUndefined()
    expect(observation.links).toEqual([expect.objectContaining({ spanId: request?.spanId })])
    const ofTrace = receiver.spans.filter(({ traceId }) => traceId === observation.traceId)
    const [sent, delivered, called] = [identify, 'deliver crm', 'POST'].map(name =>
      ofTrace.find(span => span.name === name),
    )
    expect(sent?.parentSpanId).toBe(observation.spanId)
    expect(delivered?.parentSpanId).toBe(sent?.spanId)
    expect(called?.parentSpanId).toBe(delivered?.spanId)
  }

  await ask('/v1/regulations', 'b', '{"userIds":["somebody"]}')
  await receiver.until(() => named('deliver crm').length === 3 && named('POST /v1/regulations').length === 1)
  const deletion = receiver.spans.filter(({ traceId }) => traceId === 'b'.repeat(32))
  const [asked, delivered] = ['POST /v1/regulations', 'deliver crm'].map(name =>
    deletion.find(span => span.name === name),
  )
  expect(asked?.parentSpanId).toBe('b'.repeat(16))
  expect(delivered?.parentSpanId).toBe(asked?.spanId)
  expect(JSON.stringify(receiver.spans)).not.toMatch(/body/)
})

it.each([
  ['without traces', {}],
  ['with an unreachable tracing system', { traces: { endpoint: 'http://127.0.0.1:9', sample: 1 } }],
])('%s messages are delivered, and an endpoint that did not ask for trace headers gets none', async (_, more) => {
  const webhookReceivers = await endpoints()
  const installation = closing(
    await startInstallation({ delivery: { schedule: ['1s'] }, destinations: destinations(webhookReceivers), ...more }),
  )
  const service = await installation.run()
  await send(installation, service.collector, everything)
  await Promise.all([webhookReceivers.asks.untilDelivered(1), webhookReceivers.other.untilDelivered(1)])
  expect(toldTo(webhookReceivers.other)).toEqual([[], []])
  if (!('traces' in more)) expect(toldTo(webhookReceivers.asks)).toEqual([[], []])
  const lost = 'hookline_spans_lost_total{reason="not_sent"}'
  if (!('traces' in more)) expect((await service.metrics()).get(lost)).toBe(0)
  else await until(async () => (((await service.metrics()).get(lost) ?? 0) > 0 ? true : undefined))
  await service.stop()
})
