import { setInterval } from 'node:timers/promises'
import { expect, it } from '@jest/globals'
import { closingAfterEach } from '../support/cleanup.ts'
import {
  createJob,
  hasEnded,
  operatorSettings,
  startJobsInstallation,
  untilJob,
} from '../support/jobs/real-jobs-installation.ts'
import { until } from '../support/kafka/admin.ts'
import { trackEvents } from '../support/process/test-installation.ts'
import { RecordingReceiver } from '../support/webhook/recording-receiver.ts'

const closing = closingAfterEach()
const count = 5_000
const liveEveryMs = 100

it('a resend of 5,000 events and the live traffic beside it: each delivers every event once', async () => {
  const live = closing(await RecordingReceiver.started())
  const late = closing(await RecordingReceiver.started())
  const sources = ['web', 'old'].map(id => ({ id, writeKey: `${id}-key` }))
  const destinations = [{ id: 'live', sources: ['web'], webhooks: [{ url: live.url }] }]
  const installation = closing(await startJobsInstallation({ sources, destinations }))
  const old = trackEvents(count, 'old').map(event => ({ ...event, sourceId: 'old' }))
  const [operator, dispatcher] = await Promise.all([
    installation.operator(),
    installation.dispatcher(),
    // No destination has the source `old` yet, so these events are dropped.
    installation.send(old),
  ])
  const drops = 'hookline_drops_total{reason="no_destination"}'
  await until(async () => ((await dispatcher.metrics()).get(drops) === count ? true : undefined))
  const added = { id: 'late', sources: ['old'], webhooks: [{ url: late.url }] }
  await installation.configure({ ...operatorSettings, sources, destinations: [...destinations, added] })
  const reloads = 'hookline_config_reloads_total{result="applied"}'
  for (const service of [operator, dispatcher])
    await until(async () => ((await service.metrics()).get(reloads) === 1 ? true : undefined))

  const sent = new Set<string>()
  const stop = new AbortController()
  const traffic = sendLive()
  const body = { destination: 'late', since: '1h', until: '0s', rate: 2_000 }
  const resend = await createJob(operator, '/v1/resends', body)
  const { state, progress, missing } = await untilJob(operator, resend, hasEnded)
  await late.untilDelivered(count)
  await until(async () => sent.size > 10 || undefined)
  stop.abort()
  await traffic
  await live.untilDelivered(sent.size)

  expect({ state, missing }).toEqual({ state: 'done', missing: undefined })
  expect(progress).toMatchObject({ sent: count, read: progress.total })
  expect([late.successes.size, late.duplicates]).toEqual([count, 0])
  expect([live.successes.size, live.duplicates]).toEqual([sent.size, 0])

  async function sendLive(): Promise<void> {
    let n = 0
    try {
      for await (const _ of setInterval(liveEveryMs, undefined, { signal: stop.signal })) {
        const events = trackEvents(1, `live-${n++}`)
        for (const { message } of events) sent.add(message.messageId)
        await installation.send(events)
      }
    } catch (error) {
      if (!stop.signal.aborted) throw error
    }
  }
})
