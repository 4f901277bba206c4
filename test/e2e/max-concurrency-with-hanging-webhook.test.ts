import { expect, it } from '@jest/globals'
import { durationMs } from '../../src/core/time.ts'
import { closingAfterEach } from '../support/cleanup.ts'
import { until } from '../support/kafka/admin.ts'
import { startInstallation, trackEvents } from '../support/process/test-installation.ts'
import { LimitedReceiver } from '../support/webhook/limited-receiver.ts'
import { RecordingReceiver } from '../support/webhook/recording-receiver.ts'

const closing = closingAfterEach()

it('with maxConcurrency, a webhook that hangs does not stop the other one, and a slower one gets each message', async () => {
  const hangs = closing(await RecordingReceiver.started({ answers: ['hang'] }))
  const slow = closing(await RecordingReceiver.started({ latency: durationMs(200) }))
  const [besideHanging, besideSlow] = [
    closing(await LimitedReceiver.started()),
    closing(await LimitedReceiver.started()),
  ]
  const installation = closing(
    await startInstallation({
      topics: { partitions: 3, replicationFactor: 1 },
      destinations: [
        { id: 'hanging', sources: ['web'], policy: { maxConcurrency: 12 }, webhooks: [hangs, besideHanging] },
        { id: 'slow', sources: ['web'], policy: { maxConcurrency: 12 }, webhooks: [slow, besideSlow] },
      ].map(({ webhooks, ...destination }) => ({ ...destination, webhooks: webhooks.map(({ url }) => ({ url })) })),
    }),
  )
  const service = await installation.run()
  const count = 400
  await installation.send(trackEvents(count))
  await besideHanging.accepts(count)
  await slow.untilDelivered(count)
  // The hanging webhook has at most twelve requests in progress.
  expect(hangs.requests.length).toBeLessThan(count / 4)
  await besideSlow.accepts(count - besideSlow.accepted.length)
  for (const id of ['hanging', 'slow']) {
    const name = `hookline_deliveries_total{destination="${id}",result="delivered"}`
    await until(async () => (await service.metrics()).get(name) === count || undefined)
  }
  expect(await installation.read(installation.topics.deadLetter)).toEqual([])
})
