import { describe, expect, it } from '@jest/globals'
import { closingAfterEach } from '../support/cleanup.ts'
import { until } from '../support/kafka/admin.ts'
import { HttpEndpoint } from '../support/network/http-endpoint.ts'
import { startInstallation, trackEvents } from '../support/process/test-installation.ts'
import { RecordingReceiver } from '../support/webhook/recording-receiver.ts'

const closing = closingAfterEach()

function waitsOf(receiver: RecordingReceiver): readonly (readonly number[])[] {
  const tries = Map.groupBy(receiver.requests, request => request.messageId)
  return [...tries.values()].map(requests => requests.slice(1).map(({ at }, index) => at - requests[index]!.at))
}

describe('retries on a real broker', () => {
  it('start no earlier than scheduled, have the same bytes, and end in success or the dead-letter topic', async () => {
    const heals = closing(await RecordingReceiver.started({ answers: [503, 502, 200] }))
    const stays = closing(await RecordingReceiver.started({ answers: [500] }))
    const installation = closing(
      await startInstallation({
        delivery: { schedule: ['1s', '2s'] },
        destinations: [
          { id: 'heals', sources: ['web'], webhooks: [{ url: heals.url }] },
          { id: 'stays', sources: ['web'], webhooks: [{ url: stays.url }] },
        ],
      }),
    )
    const service = await installation.run()
    // A circuit breaker opens only after ten attempts, and each destination has nine.
    const count = 3
    await installation.send(trackEvents(count))
    await heals.untilDelivered(count)
    const deadLetters = await until(async () => {
      const found = await installation.read(installation.topics.deadLetter)
      return found.length === count ? found : undefined
    })
    for (const receiver of [heals, stays]) {
      const waits = waitsOf(receiver)
      expect(waits).toHaveLength(count)
      for (const [first = 0, second = 0, ...more] of waits) {
        expect(first).toBeGreaterThanOrEqual(1_000)
        expect(second).toBeGreaterThanOrEqual(2_000)
        expect(more).toEqual([])
      }
      const bodies = Map.groupBy(receiver.requests, request => request.messageId).values()
      for (const requests of bodies) expect(new Set(requests.map(({ body }) => body)).size).toBe(1)
    }
    expect(new Set(deadLetters.map(({ headers }) => headers['reason']))).toEqual(new Set(['retries_exhausted']))
    // Two retries per message and destination. Even on a busy machine, more than half start within
    // five seconds.
    const metrics = await service.metrics()
    expect(metrics.get('hookline_retry_lateness_seconds_count')).toBe(2 * 2 * count)
    expect(metrics.get('hookline_retry_lateness_seconds_bucket{le="5"}')).toBeGreaterThan(2 * count)
    expect(await service.stop()).toBe(0)
  })

  it('delivers what waits for the end of a Retry-After of more than 10 s, each message once and not early', async () => {
    const pauseMs = 20_000
    const arrivals: { id: string; at: number }[] = []
    const endpoint = new HttpEndpoint(async (request, response) => {
      arrivals.push({ id: String(request.headers['x-message-id']), at: performance.now() })
      request.resume()
      if (arrivals.length > 1) response.end()
      else response.writeHead(429, { 'Retry-After': pauseMs / 1_000 }).end()
    })
    await endpoint.start()
    closing(endpoint)
    const destinations = [{ id: 'paused', sources: ['web'], webhooks: [{ url: `${endpoint.url}/hooks` }] }]
    const installation = closing(await startInstallation({ delivery: { schedule: ['1s', '2s'] }, destinations }))
    const service = await installation.run()
    const [first, waiting] = [trackEvents(1, 'first'), trackEvents(5, 'waiting')]
    await installation.send(first)
    // The pause begins when the process has read the response.
    const pauses = 'hookline_destination_paused_seconds{destination="paused"}'
    await until(async () => ((await service.metrics()).has(pauses) ? true : undefined))
    await installation.send(waiting)
    const isDeadLettered = async () =>
      [...(await service.metrics()).keys()].some(name => name.startsWith('hookline_dead_letters_total'))
    await until(async () => (arrivals.length > 6 || (await isDeadLettered()) ? true : undefined))
    const [refused, ...taken] = arrivals
    const ids = [...first, ...waiting].map(({ message }) => message.messageId)
    expect(taken.map(({ id }) => id).toSorted()).toEqual(ids.toSorted())
    expect(Math.min(...taken.map(({ at }) => at))).toBeGreaterThanOrEqual((refused?.at ?? 0) + pauseMs)
    // The messages waited in a retry topic, and not in memory.
    expect((await service.metrics()).get('hookline_deferrals_total{cause="not_before"}')).toBe(waiting.length)
    expect(await service.stop()).toBe(0)
  })
})
