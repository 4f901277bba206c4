import { afterEach, describe, expect, it } from '@jest/globals'
import { createOpsServer, type OpsServer } from '../../../../src/adapters/http/ops.ts'
import type { WebhookCall } from '../../../../src/core/ports.ts'
import { durationMs } from '../../../../src/core/units.ts'
import { trackMessage } from '../../../support/collector/messages.ts'
import { answered, DispatcherHarness, defaultSchedule } from '../../../support/dispatcher/harness.ts'

const minute = 60_000
const nothingMeasured = { contentType: 'text/plain', text: async () => '' }

let server: OpsServer | undefined
afterEach(async () => {
  await server?.stop()
})

/** `/livez` and `/readyz` of a dispatcher, asked as an operator's machine does. */
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

describe('/livez says that a restart would help', () => {
  it.each(['live', 'retries'] as const)(
    'when the %s consumer has neither heard of a broker nor tried to reach one for a minute',
    async stalled => {
      const harness = await DispatcherHarness.started()
      const ask = await serve(harness)
      harness[stalled].inactiveFor = durationMs(minute - 1)
      expect(await ask('/livez')).toEqual(well)
      harness[stalled].inactiveFor = durationMs(minute)
      expect(await ask('/livez')).toEqual([
        503,
        '- consumers: heard of a broker or tried to reach one 60000 ms ago\nfailed\n',
      ])
      // Who rolls out has nothing to wait for: the group is joined, the topics are written to.
      expect(await ask('/readyz')).toEqual(well)
      harness[stalled].inactiveFor = durationMs(0)
      expect(await ask('/livez')).toEqual(well)
    },
  )

  it('when a record has been open for a quarter of an hour; not when none is left', async () => {
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
      `- progress: oldest open record ${15 * minute} ms, no call has ended for ${15 * minute} ms\nfailed\n`,
    ])
    // Another process has them now.
    harness.live.handlers?.onRevoked([{ topic: harness.topics.events, partition: 0 }])
    expect(await ask('/livez')).toEqual(well)
  })
})

describe('/livez says that a restart would help nobody', () => {
  it('while Kafka is away, however long: /readyz says so', async () => {
    const harness = await DispatcherHarness.started()
    const ask = await serve(harness)
    harness.live.silentFor = durationMs(24 * 60 * minute)
    expect(await ask('/livez')).toEqual(well)
    const reason = `- groups: no broker has answered for ${24 * 60 * minute} ms`
    expect(await ask('/readyz')).toEqual([503, `${reason}\nfailed\n`])
  })

  it('while calls end, however old the oldest record is: a slow endpoint with many events of one user', async () => {
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

  it('while a record waits for a topic that takes none: that is for /readyz', async () => {
    const harness = await DispatcherHarness.started({ answer: () => answered(500) })
    const ask = await serve(harness)
    const topic = harness.topics.retry(defaultSchedule[0]!)
    harness.log.unwritable.add(topic)
    harness.write({ message: trackMessage('m') })
    await harness.advance(20 * minute)
    expect(await ask('/livez')).toEqual(well)
    expect(await ask('/readyz')).toEqual([
      503,
      `- topics: not taking records: ${topic}; their source offsets wait\nfailed\n`,
    ])
  })

  it('while it is idle, however long', async () => {
    const harness = await DispatcherHarness.started()
    const ask = await serve(harness)
    harness.write({ message: trackMessage('m') })
    await harness.advance(24 * 60 * minute)
    expect([await ask('/livez'), await ask('/readyz')]).toEqual([well, well])
  })
})
