import { afterEach, describe, expect, it } from '@jest/globals'
import { createOpsServer, type OpsServer } from '../../../../src/adapters/http/ops-server.ts'
import { retryRecord } from '../../../../src/core/delivery/delivery-state.ts'
import { durationMs } from '../../../../src/core/time.ts'
import type { WebhookCall } from '../../../../src/core/webhook-ports.ts'
import { carriedOf, later, recordOf } from '../../../support/builders.ts'
import { trackMessage } from '../../../support/collector/normalised-track-message.ts'
import { answered, DispatcherHarness, defaultSchedule } from '../../../support/dispatcher/harness.ts'

const minute = 60_000
const nothingMeasured = { contentType: 'text/plain', text: async () => '' }

let server: OpsServer | undefined
afterEach(async () => {
  await server?.stop()
})

async function serve(harness: DispatcherHarness) {
  server = createOpsServer({
    listen: { host: '127.0.0.1', port: 0 },
    health: () => harness.service.health(),
    metrics: { ...nothingMeasured, openMetrics: nothingMeasured },
  })
  const url = await server.start()
  return async (path: '/livez' | '/readyz'): Promise<[number, string]> => {
    const response = await fetch(url + path)
    return [response.status, await response.text()]
  }
}

const well = [200, 'ok\n']

describe('/livez fails', () => {
  it.each(['live', 'retries'] as const)(
    'when the %s consumer has had no contact with a broker, and tried none, for a minute',
    async stalled => {
      const harness = await DispatcherHarness.started()
      const ask = await serve(harness)
      harness[stalled].inactiveFor = durationMs(minute - 1)
      expect(await ask('/livez')).toEqual(well)
      harness[stalled].inactiveFor = durationMs(minute)
      expect(await ask('/livez')).toEqual([
        503,
        '- consumers: the last broker response or connection attempt was 60000 ms ago\nfailed\n',
      ])
      // The group is joined and the topics are writable, so /readyz does not fail.
      expect(await ask('/readyz')).toEqual(well)
      harness[stalled].inactiveFor = durationMs(0)
      expect(await ask('/livez')).toEqual(well)
    },
  )

  it('when a record has been in progress for 15 minutes, until none is left', async () => {
    const harness = await DispatcherHarness.started({ answer: () => 'never' })
    const ask = await serve(harness)
    harness.write({ message: trackMessage('lost track of') })
    await harness.advance(minute)
    harness.write({ message: trackMessage('younger') })
    await harness.advance(14 * minute - 1)
    expect(await ask('/livez')).toEqual(well)
    await harness.advance(1)
    expect(await ask('/livez')).toEqual([
      503,
      '- progress: the oldest record has been in progress for 900 s; no webhook request ended in the last 900 s (limit: 900 s)\nfailed\n',
    ])
    // Another process now owns the partition with the stalled record.
    harness.live.handlers?.onRevoked([{ topic: harness.topics.events, partition: 0 }])
    expect(await ask('/livez')).toEqual(well)
  })
})

describe('/livez does not fail', () => {
  it('while Kafka cannot be reached, for any time; /readyz fails', async () => {
    const harness = await DispatcherHarness.started()
    const ask = await serve(harness)
    harness.live.silentFor = durationMs(24 * 60 * minute)
    expect(await ask('/livez')).toEqual(well)
    const reason = `- groups: a consumer got no response from any broker for ${24 * 60 * minute} ms`
    expect(await ask('/readyz')).toEqual([503, `${reason}\nfailed\n`])
  })

  it('while requests end, whatever the age of the oldest record', async () => {
    const isSlow = (call: WebhookCall): boolean => call.headers['X-Message-Id'] === 'slow'
    const harness = await DispatcherHarness.started({ answer: call => (isSlow(call) ? 'never' : answered(200)) })
    const ask = await serve(harness)
    harness.write({ message: trackMessage('slow', { userId: 'ada' }) })
    for (let minutes = 0; minutes < 60; minutes++) {
      harness.write({ message: trackMessage(`other ${minutes}`, { userId: 'bob' }) })
      await harness.advance(minute)
    }
    expect(await ask('/livez')).toEqual(well)
    await harness.advance(13 * minute)
    expect(await ask('/livez')).toEqual(well)
    await harness.advance(minute)
    expect((await ask('/livez'))[0]).toBe(503)
  })

  it('while a record waits for a topic that is not writable; /readyz fails', async () => {
    const harness = await DispatcherHarness.started({ answer: () => answered(500) })
    const ask = await serve(harness)
    const topic = harness.topics.retry(defaultSchedule[0]!)
    harness.log.unwritable.add(topic)
    harness.write({ message: trackMessage('m') })
    await harness.advance(20 * minute)
    expect(await ask('/livez')).toEqual(well)
    expect(await ask('/readyz')).toEqual([
      503,
      `- topics: writes to ${topic} fail; Hookline repeats the writes, and does not commit the offsets of the affected records until the writes succeed\nfailed\n`,
    ])
  })

  it.each(['events', 'retry'] as const)(
    'while a record of the %s topic needs a schema and the registry does not respond; the record is then delivered',
    async kind => {
      const harness = await DispatcherHarness.started()
      const ask = await serve(harness)
      const { topics, clock } = harness
      harness.codec.registryIsDown = true
      const event = { sourceId: 'web', canonical: true, receivedAt: clock.now(), message: trackMessage('m') }
      const value = Buffer.from(`schema:7:${JSON.stringify(event)}`)
      const carried = carriedOf({ destination: 'crm', messageId: 'm', deadline: later('4h', clock.now()) })
      const { headers } = retryRecord(recordOf({ value }), carried)
      if (kind === 'events') harness.log.write(topics.events, value, 'user')
      else harness.log.write(topics.retry(defaultSchedule[0]!), value, 'user', headers)
      await harness.advance(20 * minute)
      expect([await ask('/livez'), harness.calls]).toEqual([well, []])
      harness.codec.registryIsDown = false
      await harness.advance(minute)
      expect(harness.calls).toHaveLength(1)
      expect(await ask('/livez')).toEqual(well)
    },
  )

  it('while it is idle, for any time', async () => {
    const harness = await DispatcherHarness.started()
    const ask = await serve(harness)
    harness.write({ message: trackMessage('m') })
    await harness.advance(24 * 60 * minute)
    expect([await ask('/livez'), await ask('/readyz')]).toEqual([well, well])
  })
})
