import { json } from 'node:stream/consumers'
import { expect, it } from '@jest/globals'
import type { RunningService } from '../../deploy/tools/local/hookline-process.ts'
import { deletionRequestedAt } from '../../src/core/deletion/deletion-request.ts'
import type { Event } from '../../src/core/message/event.ts'
import { closingAfterEach } from '../support/cleanup.ts'
import { until } from '../support/kafka/admin.ts'
import { HttpEndpoint } from '../support/network/http-endpoint.ts'
import { startInstallation, trackEvents, webKey } from '../support/process/test-installation.ts'

const closing = closingAfterEach()

interface Call {
  readonly at: number
  readonly type: string
  readonly userId: string
}

/** Starts an endpoint that responds with 503. Only a repeated attempt of a delete gets a 200. */
async function startReceiver() {
  const calls: Call[] = []
  const endpoint = new HttpEndpoint(async (request, response) => {
    const { type, userId } = (await json(request)) as Call
    calls.push({ at: performance.now(), type, userId })
    const isAgain = calls.filter(call => call.type === type && call.userId === userId).length > 1
    response.writeHead(type === 'delete' && isAgain ? 200 : 503).end()
  })
  await endpoint.start()
  return { calls, close: () => endpoint.close(), url: `${endpoint.url}/` }
}

const of = (userId: string, events: readonly Event[]): readonly Event[] =>
  events.map(event => ({ ...event, message: { ...event.message, userId } }))

const untilCounted = (service: RunningService, name: string, count: number): Promise<true> =>
  until(async () => ((await service.metrics()).get(name) === count ? true : undefined))

it('a deleted user: retries are dropped, the delete arrives, and later events are neither accepted nor delivered', async () => {
  const receiver = closing(await startReceiver())
  const installation = closing(
    await startInstallation({
      // With one minute of retries, deliveries still wait when the command ends, even on a slow
      // machine.
      delivery: { schedule: Array<string>(20).fill('3s') },
      destinations: [{ id: 'crm', sources: ['web'], webhooks: [{ url: receiver.url }] }],
    }),
  )
  const service = await installation.run()
  await installation.send([...of('ada', trackEvents(3, 'ada')), ...of('bob', trackEvents(1, 'bob'))])
  await until(async () => (receiver.calls.length >= 4 ? true : undefined))

  const accepted = JSON.parse(await installation.command('delete-user', '--user', 'ada', '--suppress', '--json'))
  const acceptedAt = performance.now()
  await untilCounted(service, 'hookline_drops_total{reason="user_deleted"}', 3)
  // `--status` reads the topic from about the time in the id.
  expect(Math.abs((deletionRequestedAt(accepted.id) ?? 0) - Date.parse(accepted.createdAt))).toBeLessThan(1_000)
  const status = async () => JSON.parse(await installation.command('delete-user', '--status', accepted.id, '--json'))
  await until(async () => ((await status()).status === 'finished' ? true : undefined))
  expect((await status()).sources).toMatchObject([
    { id: 'web', destinations: [{ id: 'crm', delivered: 1, undelivered: 0, waiting: 0 }] },
  ])
  const told = (await installation.read(installation.topics.deletions)).filter(({ value }) => value !== null)
  expect(told.map(({ key }) => String(key)).every(key => key.includes(accepted.id))).toBe(true)
  expect(new Set(told.map(({ partition }) => partition)).size).toBe(1)
  await until(async () => (receiver.calls.some(call => call.userId === 'bob' && isLate(call)) ? true : undefined))
  expect(receiver.calls.filter(call => call.userId === 'ada' && call.type === 'track' && isLate(call))).toEqual([])
  expect(receiver.calls.filter(({ type }) => type === 'delete')).toHaveLength(2)

  const before = (await installation.read(installation.topics.events)).length
  const response = await fetch(`${service.collector}/v1/track`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${webKey}:`)}` },
    body: JSON.stringify({ userId: 'ada', event: 'Back again' }),
  })
  expect([response.status, await response.json()]).toEqual([200, { success: true }])
  expect((await installation.read(installation.topics.events)).length).toBe(before)
  const suppressed = 'hookline_collector_messages_total{source="web",result="suppressed"}'
  expect((await service.metrics()).get(suppressed)).toBe(1)
  await service.kill()

  // These events do not pass a collector, so the new process must read all suppressions before its
  // first event.
  await installation.send(of('ada', trackEvents(2, 'straight')))
  const next = await installation.run()
  await untilCounted(next, 'hookline_drops_total{reason="suppressed"}', 2)
  expect(receiver.calls.filter(call => call.userId === 'ada' && call.type === 'track' && isLate(call))).toEqual([])
  expect(await next.stop()).toBe(0)

  function isLate({ at }: Call): boolean {
    return at > acceptedAt + 5_000
  }
})
