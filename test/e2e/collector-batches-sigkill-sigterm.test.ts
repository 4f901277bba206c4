import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type Broker, startBroker } from '../../deploy/tools/local/broker.ts'
import { freePorts } from '../../deploy/tools/local/free-ports.ts'
import type { RunningService } from '../../deploy/tools/local/hookline-process.ts'
import { closingAfterEach } from '../support/cleanup.ts'
import { until } from '../support/kafka/admin.ts'
import { basic, request } from '../support/network/http-request-bytes.ts'
import { connect } from '../support/network/raw-http-client.ts'
import { startInstallation, type TestInstallation, webKey } from '../support/process/test-installation.ts'
import { RecordingReceiver } from '../support/webhook/recording-receiver.ts'

const closing = closingAfterEach()

interface Posted {
  readonly status: number
  readonly retryAfter: string | null
  readonly body: Record<string, unknown>
}

async function post({ collector }: RunningService, body: object, key = webKey): Promise<Posted> {
  const response = await fetch(`${collector}/v1/batch`, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(`${key}:`).toString('base64')}` },
    body: JSON.stringify(body),
  })
  return {
    status: response.status,
    retryAfter: response.headers.get('retry-after'),
    body: (await response.json()) as Record<string, unknown>,
  }
}

const pages = (ids: readonly string[]): object => ({
  batch: ids.map(messageId => ({ type: 'page', userId: messageId, messageId })),
})

async function idsOn({ topics, codec, read }: TestInstallation): Promise<ReadonlySet<string>> {
  const records = await read(topics.events)
  return new Set(
    records.map(({ value, timestamp }) => {
      const decoded = codec.decode(value as Buffer, timestamp)
      return decoded.kind === 'event' ? decoded.event.message.messageId : decoded.kind
    }),
  )
}

/** Sends small batches one after another, until `end` is called or a batch gets no response. */
function steadyLoad(service: RunningService, name = 'load') {
  const accepted: string[] = []
  const unanswered: string[] = []
  const answers: number[] = []
  let isEnded = false
  const running = (async () => {
    for (let count = 0; !isEnded && unanswered.length === 0; count += 10) {
      const ids = Array.from({ length: 10 }, (_, index) => `${name}-${count + index}`)
      // After a broken connection, it is unknown which messages the collector accepted.
      const posted = await post(service, pages(ids)).catch(() => undefined)
      answers.push(posted?.status ?? 0)
      if (posted === undefined) unanswered.push(...ids)
      if (posted?.status === 200) accepted.push(...ids)
      // Without this wait, immediate rejections would cause thousands of requests.
      else await new Promise(resolve => setTimeout(resolve, 50))
    }
  })()
  return {
    accepted,
    unanswered,
    answers,
    over: running,
    end: async (): Promise<void> => {
      isEnded = true
      await running
    },
  }
}

/** Starts eight senders, which continue. Resolves when each has a hundred accepted messages. */
async function heavyLoad(service: RunningService) {
  const loads = Array.from({ length: 8 }, (_, index) => steadyLoad(service, `load-${index}`))
  await until(async () => (loads.every(({ accepted }) => accepted.length >= 100) ? true : undefined))
  return loads
}

const alone = ['--services', 'collector']

describe('a batch sent to the collector', () => {
  it('is delivered to the webhook; the response lists rejected messages, and metrics count both', async () => {
    const receiver = closing(await RecordingReceiver.started())
    const installation = closing(
      await startInstallation({ destinations: [{ id: 'crm', sources: ['web'], webhooks: [{ url: receiver.url }] }] }),
    )
    const service = await installation.run()
    expect(service.ready).toMatch(/^hookline ready collector=http:\/\/127\.0\.0\.1:\d+ ops=\S+ kafka=\S+ registry=\S+$/)
    const { batch } = pages(['a', 'b']) as { batch: object[] }
    const { status, body } = await post(service, { batch: [...batch, { type: 'page', messageId: 'c' }] })
    expect(status).toBe(200)
    expect(body).toMatchObject({ success: true, rejected: [{ index: 2, messageId: 'c', code: 'missing_id' }] })
    await receiver.untilDelivered(2)
    expect([...receiver.successes.keys()].sort()).toEqual(['a', 'b'])
    const metrics = await service.metrics()
    expect(metrics.get('hookline_collector_messages_total{source="web",result="accepted"}')).toBe(2)
    expect(metrics.get('hookline_collector_messages_total{source="web",result="rejected"}')).toBe(1)
    expect(metrics.get('hookline_collector_store_seconds_count')).toBe(1)
    // The collector responds without waiting until the rejected message is written.
    await until(async () =>
      (await service.metrics()).get('hookline_collector_held_bytes{what="records"}') === 0 ? true : undefined,
    )
    expect(await service.stop()).toBe(0)
  })

  it('is accepted by a process with only the collector; a new write key works without a restart', async () => {
    const installation = closing(await startInstallation({}))
    const collector = await installation.run({}, alone)
    expect(await collector.ask('/readyz?verbose')).toEqual({
      status: 200,
      text: expect.stringMatching(/^\+ collector: listening\n\+ kafka: Kafka accepts messages\n(\+ .*\n)*ok\n$/),
    })
    expect(await post(collector, pages(['a']), 'new-key')).toMatchObject({
      status: 401,
      body: { code: 'invalid_write_key' },
    })
    await installation.configure({ sources: [{ id: 'new', writeKey: 'new-key' }] })
    await until(async () => ((await post(collector, pages(['a']), 'new-key')).status === 200 ? true : undefined))
    expect(await post(collector, pages(['b']))).toMatchObject({ status: 401 })
    expect([...(await idsOn(installation))]).toEqual(['a'])

    // A process with only the dispatcher has no collector.
    const dispatcher = await installation.run({}, ['--services', 'dispatcher'])
    expect(dispatcher.ready).not.toContain('collector=')
    expect(await Promise.all([collector.stop(), dispatcher.stop()])).toEqual([0, 0])
  })
})

describe('a collector that gets SIGKILL', () => {
  it('loses no accepted message; the next collector accepts those without a response', async () => {
    const receiver = closing(await RecordingReceiver.started())
    const installation = closing(
      await startInstallation({ destinations: [{ id: 'crm', sources: ['web'], webhooks: [{ url: receiver.url }] }] }),
    )
    const dispatcher = await installation.run({}, ['--services', 'dispatcher'])
    const victim = await installation.run({}, alone)
    const loads = await heavyLoad(victim)
    await victim.kill()
    await Promise.all(loads.map(({ over }) => over))
    expect(new Set(loads.flatMap(({ answers }) => answers))).toEqual(new Set([200, 0]))
    const accepted = loads.flatMap(load => load.accepted)
    await receiver.until(() => accepted.every(id => receiver.successes.has(id)))

    const unanswered = new Set(loads.flatMap(load => load.unanswered))
    const next = await installation.run({}, alone)
    expect(await post(next, pages([...unanswered]))).toMatchObject({ status: 200 })
    await receiver.untilDelivered(accepted.length + unanswered.size)
    expect(await Promise.all([next.stop(), dispatcher.stop()])).toEqual([0, 0])
    const twice = [...receiver.successes].filter(([, times]) => times > 1).map(([id]) => id)
    expect(twice.filter(id => !unanswered.has(id))).toEqual([])
    expect(receiver.successes.size).toBe(accepted.length + unanswered.size)
  })
})

describe('a collector that gets SIGTERM', () => {
  let installation: TestInstallation
  beforeAll(async () => {
    installation = await startInstallation({})
  })
  afterAll(() => installation?.close())

  it('under load: stores accepted messages, and rejects the others or gives no response', async () => {
    const service = await installation.run({}, alone)
    const loads = await heavyLoad(service)
    expect(await service.stop()).toBe(0)
    await Promise.all(loads.map(({ end }) => end()))
    const answers = loads.flatMap(load => load.answers)
    expect(answers.filter(status => ![200, 503, 0].includes(status))).toEqual([])
    const stored = await idsOn(installation)
    expect(loads.flatMap(({ accepted }) => accepted.filter(id => !stored.has(id)))).toEqual([])
  })

  it('becomes not ready, and accepts the request that it is reading', async () => {
    const service = await installation.run({}, alone)
    const wire = await connect(service.collector as string)
    const body = JSON.stringify(pages(['begun']))
    await wire.send(request('POST /v1/batch', { Authorization: basic(webKey), 'Content-Length': String(body.length) }))
    await wire.send(body.slice(0, 10))
    // The kernel has the bytes. The collector must read them before it gets the signal.
    await until(async () =>
      ((await service.metrics()).get('hookline_collector_held_bytes{what="bodies"}') ?? 0) > 0 ? true : undefined,
    )
    const stopped = service.stop()
    await until(async () => ((await service.ask('/readyz')).status === 503 ? true : undefined))
    expect((await service.ask('/readyz?verbose')).text).toContain('- collector: draining\n')
    await wire.send(body.slice(10))
    expect(await wire.answer()).toMatchObject({ status: 200, headers: { connection: 'close' } })
    expect(await stopped).toBe(0)
    expect(await idsOn(installation)).toContain('begun')
    wire.reset()
  })
})

describe('during an outage of Kafka', () => {
  it('the collector responds within its deadline, becomes not ready, and recovers by itself', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'hookline-collector-'))
    closing({ close: () => rm(dataDir, { recursive: true, force: true }) })
    const place = { dataDir, port: await freePorts(2) }
    let broker: Broker = await startBroker(place)
    closing({ close: () => broker.stop() })
    const installation = closing(await startInstallation({}, broker.address))
    const service = await installation.run({}, alone)
    const load = steadyLoad(service)
    await until(async () => (load.accepted.length >= 100 ? true : undefined))
    await broker.stop()
    await until(async () => ((await service.ask('/readyz')).status === 503 ? true : undefined))
    expect((await service.ask('/livez')).status).toBe(200)
    const refused = await post(service, pages(['while-away']))
    expect(refused).toMatchObject({ status: 503, body: { code: 'unavailable' } })
    expect(Number(refused.retryAfter)).toBeGreaterThan(0)

    broker = await startBroker(place)
    const before = load.accepted.length
    await until(async () => (load.accepted.length > before ? true : undefined))
    await until(async () => ((await service.ask('/readyz')).status === 200 ? true : undefined))
    await load.end()
    expect(new Set(load.answers)).toEqual(new Set([200, 503]))
    expect(await service.stop()).toBe(0)
    const stored = await idsOn(installation)
    expect(load.accepted.filter(id => !stored.has(id))).toEqual([])
  })
})
