import { expect, it } from '@jest/globals'
import { closingAfterEach } from '../support/cleanup.ts'
import { createJob, hasEnded, startJobsInstallation, untilJob } from '../support/jobs/real-jobs-installation.ts'
import { until } from '../support/kafka/admin.ts'
import { patience } from '../support/process/delivery-findings.ts'
import { trackEvents } from '../support/process/test-installation.ts'
import { RecordingReceiver } from '../support/webhook/recording-receiver.ts'

const closing = closingAfterEach()
const count = 400
const rate = 40
/**
 * Maximum number of records that a job has processed since it last saved its progress: the records
 * of one second, doubled for a slow machine.
 */
const inProgress = 2 * rate
/**
 * Processed records of each job at the kill. A restart from the first record would duplicate more
 * than `inProgress`.
 */
const killedAt = 3 * rate

it('SIGKILL of the process that runs a replay and a resend: another one continues both', async () => {
  const crm = closing(await RecordingReceiver.started({ answers: [404, 200] }))
  const shop = closing(await RecordingReceiver.started())
  const destinations = Object.entries({ crm, shop }).map(([id, { url }]) => ({
    ...{ id, sources: ['web'], webhooks: [{ url }] },
  }))
  const installation = closing(await startJobsInstallation({ destinations }))
  const [first, second] = await Promise.all([
    installation.operator(),
    installation.operator(),
    installation.dispatcher(),
  ])
  // Suspends the second process, so that the first one runs both jobs.
  process.kill(second.pid, 'SIGSTOP')
  await installation.send(trackEvents(count))
  await shop.untilDelivered(count)
  // A replay selects only the dead letters that exist when it begins.
  await until(async () =>
    (await installation.read(installation.topics.deadLetter)).length === count ? true : undefined,
  )
  const span = { since: '1h', until: '0s' }
  const resend = await createJob(first, '/v1/resends', { destination: 'shop', ...span, rate })
  const replay = await createJob(first, '/v1/replays', { filters: { destination: 'crm' }, rate })
  await untilJob(first, resend, job => job.progress.sent >= killedAt)
  await untilJob(first, replay, job => job.progress.replayed >= killedAt)
  await first.kill()
  process.kill(second.pid, 'SIGCONT')
  const continuedAt = performance.now()
  await until(async () => {
    const metrics = await second.metrics()
    const takenOver = ['replay', 'resend'].map(kind => metrics.get(`hookline_jobs_taken_over_total{kind="${kind}"}`))
    return takenOver.every(times => times === 1) || undefined
  })
  expect(performance.now() - continuedAt).toBeLessThan(15_000 * patience)

  const done = await Promise.all([resend, replay].map(path => untilJob(second, path, hasEnded)))
  expect(done).toMatchObject([
    { state: 'done', createdBy: 'ada', progress: { read: count, total: count, sent: count, skipped: 0 } },
    { state: 'done', progress: { refused: 0 } },
  ])
  // The killed process may have replayed some dead letters without recording them.
  expect(done[1].progress.replayed).toBeGreaterThan(count - inProgress)
  await crm.untilDelivered(count)
  await shop.until(() => [...shop.successes.values()].every(times => times >= 2))
  expect(shop.successes.size).toBe(count)
  expect(shop.duplicates - count).toBeLessThanOrEqual(inProgress)
  expect(crm.duplicates).toBeLessThanOrEqual(inProgress)
  const metrics = await second.metrics()
  expect(metrics.get('hookline_jobs_taken_over_total{kind="replay"}')).toBe(1)
  expect(metrics.get('hookline_jobs_taken_over_total{kind="resend"}')).toBe(1)
  expect(metrics.get('hookline_jobs{kind="resend",state="running"}')).toBe(0)
})
