import { setTimeout as delay } from 'node:timers/promises'
import { expect, it } from '@jest/globals'
import { createSink } from '../../src/adapters/http/sink-server.ts'
import { closingAfterEach } from '../support/cleanup.ts'
import { until } from '../support/kafka/admin.ts'
import { startInstallation, trackEvents } from '../support/process/test-installation.ts'

const closing = closingAfterEach()

it('more slow destinations than permits of a host: all get requests, a fast one most of its events', async () => {
  const calls = new Map<string, number>()
  const sink = createSink({
    onRequest: async ({ path }) => {
      const destination = path.split('/')[1] as string
      calls.set(destination, (calls.get(destination) ?? 0) + 1)
      if (destination.startsWith('slow')) await delay(500)
    },
  })
  const url = await sink.start()
  closing({ close: () => sink.stop().then(() => {}) })
  const slow = Array.from({ length: 10 }, (_, index) => ({
    id: `slow-${index}`,
    sources: ['web'],
    webhooks: [1, 2, 3, 4, 5].map(path => ({ url: `${url}/slow-${index}/${path}` })),
  }))
  const installation = closing(
    await startInstallation({
      delivery: { perHost: 8, perWebhook: 4 },
      destinations: [...slow, { id: 'quick', sources: ['web'], webhooks: [{ url: `${url}/quick` }] }],
    }),
  )
  await installation.run()
  const [batches, each] = [40, 15]
  for (let batch = 0; batch < batches; batch++) {
    await installation.send(trackEvents(each, `batch-${batch}`))
    await delay(200)
  }
  // `quick` needs only 60 % of its events here, because some events may have been deferred. Before
  // `quick` has them, no slow destination may get 60 requests.
  const countOf = (id: string): number => calls.get(id) ?? 0
  const enough = 0.6 * batches * each
  await until(async () => countOf('quick') > enough || slow.some(({ id }) => countOf(id) >= 60) || undefined)
  await until(async () => slow.every(({ id }) => countOf(id) > 3) || undefined)
  expect(countOf('quick')).toBeGreaterThan(enough)
})

it('two destinations that answer 200 after 4.8 s defer no event of a third one, with the default limits', async () => {
  const sentAt = new Map<string, number>()
  const delays: number[] = []
  let slowRequests = 0
  const sink = createSink({
    onRequest: async ({ path, headers }) => {
      if (path.startsWith('/slow')) {
        slowRequests += 1
        return void (await delay(4_800, undefined, { ref: false }))
      }
      delays.push(Date.now() - (sentAt.get(String(headers['x-message-id'])) ?? 0))
    },
  })
  const url = await sink.start()
  closing({ close: () => sink.stop().then(() => {}) })
  const slow = ['slow-1', 'slow-2'].map(id => ({
    ...{ id, sources: ['web'] },
    webhooks: [1, 2, 3, 4, 5].map(path => ({ url: `${url}/${id}/${path}` })),
  }))
  const installation = closing(
    await startInstallation({
      destinations: [...slow, { id: 'quick', sources: ['web'], webhooks: [{ url: `${url}/quick` }] }],
    }),
  )
  await installation.run()
  const [batches, each] = [48, 10]
  for (let batch = 0; batch < batches; batch++) {
    // Each event has its own user, so that no event waits for an earlier one.
    const events = trackEvents(each, `batch-${batch}`).map(event => {
      sentAt.set(event.message.messageId, Date.now())
      return { ...event, message: { ...event.message, userId: event.message.messageId } }
    })
    await installation.send(events)
    await delay(125)
  }
  await until(async () => (delays.length >= batches * each ? true : undefined))
  // A deferred event would arrive after 10 s or more.
  expect(delays.filter(ms => ms >= 8_000)).toEqual([])
  expect(slowRequests).toBeGreaterThan(100)
})
