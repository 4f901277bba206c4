import { expect, it } from '@jest/globals'
import { closingAfterEach } from '../support/cleanup.ts'
import { createJob, hasEnded, startJobsInstallation, untilJob } from '../support/jobs/real-jobs-installation.ts'
import { trackEvents } from '../support/process/test-installation.ts'
import { RecordingReceiver } from '../support/webhook/recording-receiver.ts'

const closing = closingAfterEach()
const count = 400
/** Number of events that are resent before the restart. The others take about six more seconds. */
const before = 160

it('a resend continues after a restart of all processes, from the position that it had reached', async () => {
  const shop = closing(await RecordingReceiver.started())
  const destinations = [{ id: 'shop', sources: ['web'], webhooks: [{ url: shop.url }] }]
  const installation = closing(await startJobsInstallation({ destinations }))
  const start = () => Promise.all([installation.operator(), installation.operator(), installation.dispatcher()])
  const processes = await start()
  await installation.send(trackEvents(count))
  await shop.untilDelivered(count)
  const [operator] = processes
  const body = { destination: 'shop', since: '1h', until: '0s', rate: 40 }
  const resend = await createJob(operator, '/v1/resends', body)
  await untilJob(operator, resend, job => job.progress.sent >= before)
  expect(await Promise.all(processes.map(service => service.stop()))).toEqual([0, 0, 0])
  expect((await installation.log()).map(({ msg }) => msg)).toContain(
    'this process released the job before the job ended; another process continues it',
  )

  const [next] = await start()
  expect(await untilJob(next, resend, hasEnded)).toMatchObject({
    state: 'done',
    progress: { read: count, total: count, sent: count, skipped: 0 },
  })
  await shop.until(() => [...shop.successes.values()].every(times => times >= 2))
  // A job that began from the start would deliver the events from before the restart a third time.
  expect(shop.duplicates - count).toBeLessThan(before)
})
