import { expect, it } from '@jest/globals'
import { closingAfterEach } from '../support/cleanup.ts'
import { ask, createJob, hasEnded, startJobsInstallation, untilJob } from '../support/jobs/real-jobs-installation.ts'
import { trackEvents } from '../support/process/test-installation.ts'
import { RecordingReceiver } from '../support/webhook/recording-receiver.ts'

const closing = closingAfterEach()
const count = 320
const rate = 40
/**
 * Maximum number of events that can be resent, but not yet counted in the stored job: those of one
 * second, doubled for a slow machine.
 */
const inProgress = 2 * rate
/**
 * Number of resent events at the suspension. A resend from the first event would duplicate more
 * than `inProgress` events.
 */
const suspendedAt = 3 * rate

it('SIGSTOP of the process that runs a resend: another one finishes it, and the first one sends nothing more', async () => {
  const shop = closing(await RecordingReceiver.started())
  const destinations = [{ id: 'shop', sources: ['web'], webhooks: [{ url: shop.url }] }]
  const installation = closing(await startJobsInstallation({ destinations }))
  const [first, second] = await Promise.all([
    installation.operator(),
    installation.operator(),
    installation.dispatcher(),
  ])
  await installation.send(trackEvents(count))
  await shop.untilDelivered(count)
  process.kill(second.pid, 'SIGSTOP')
  const body = { destination: 'shop', since: '1h', until: '0s', rate }
  const resend = await createJob(first, '/v1/resends', body)
  await untilJob(first, resend, job => job.progress.sent >= suspendedAt)
  process.kill(first.pid, 'SIGSTOP')
  process.kill(second.pid, 'SIGCONT')

  expect(await untilJob(second, resend, hasEnded)).toMatchObject({ state: 'done', progress: { sent: count } })
  expect((await second.metrics()).get('hookline_jobs_taken_over_total{kind="resend"}')).toBe(1)
  await shop.until(() => [...shop.successes.values()].every(times => times >= 2))
  const [before, beforeOfUser] = [shop.duplicates, shop.successes.get('m-7') ?? 0]
  process.kill(first.pid, 'SIGCONT')
  expect(await untilJob(first, resend, hasEnded)).toMatchObject({ state: 'done', progress: { sent: count } })
  // The suspended process lost only this job. It still accepts new ones.
  const next = await createJob(first, '/v1/resends', { ...body, userIds: ['user-7'] })
  expect(await untilJob(second, next, hasEnded)).toMatchObject({
    state: 'done',
    progress: { sent: 1, skipped: count - 1 },
  })
  await shop.until(() => (shop.successes.get('m-7') ?? 0) > beforeOfUser)
  expect(before - count).toBeLessThanOrEqual(inProgress)
  // Two more duplicates are possible: `m-7`, which the new job resent, and an event in progress at
  // the suspension.
  expect(shop.duplicates - before).toBeLessThanOrEqual(2)
  const { body: list } = await ask(first, 'GET /v1/resends')
  expect(list.resends.map(({ state }: { state: string }) => state)).toEqual(['done', 'done'])
})
