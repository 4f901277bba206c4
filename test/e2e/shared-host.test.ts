import { setTimeout as delay } from 'node:timers/promises'
import { expect, it } from '@jest/globals'
import { createSink } from '../../src/adapters/http/sink-server.ts'
import { closingAfterEach } from '../support/cleanup.ts'
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
  await delay(1_000)
  // Fast destinations have their own share of the permits (slots for concurrent requests) of the
  // host. Without it, `quick` would get a permit only as often as each slow destination, about 15
  // times. Some events of `quick` may still wait in a retry topic: they were deferred before
  // Hookline noticed that the host has too few permits.
  expect(calls.get('quick') ?? 0).toBeGreaterThan(0.6 * batches * each)
  for (const { id } of slow) expect(calls.get(id) ?? 0).toBeGreaterThan(3)
})
