import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import type { RunningService } from '../../deploy/tools/local/hookline-process.ts'
import {
  ask,
  createJob,
  hasEnded,
  type JobsInstallation,
  startJobsInstallation,
  untilJob,
} from '../support/jobs/real-jobs-installation.ts'
import { until } from '../support/kafka/admin.ts'
import { operatorKey } from '../support/operator/scripted-deletion-and-audience-api.ts'
import { trackEvents } from '../support/process/test-installation.ts'
import { RecordingReceiver } from '../support/webhook/recording-receiver.ts'

const count = 40
const span = { since: '1h', until: '0s' }
const program = new URL('../../bin/hookline.js', import.meta.url).pathname
let installation: JobsInstallation
let operator: RunningService
let keyFile: string
let crm: RecordingReceiver
let shop: RecordingReceiver

beforeAll(async () => {
  crm = await RecordingReceiver.started({ answers: [404, 200] })
  shop = await RecordingReceiver.started()
  const destinations = Object.entries({ crm, shop }).map(([id, { url }]) => ({
    ...{ id, sources: ['web'], webhooks: [{ url }] },
  }))
  installation = await startJobsInstallation({ destinations })
  keyFile = join(dirname(installation.configFile), 'key')
  await writeFile(keyFile, operatorKey)
  ;[operator] = await Promise.all([installation.operator(), installation.dispatcher()])
  await installation.send(trackEvents(count))
  await shop.untilDelivered(count)
  await until(async () =>
    (await installation.read(installation.topics.deadLetter)).length === count ? true : undefined,
  )
})
afterAll(async () => {
  await installation?.close()
  await Promise.all([crm?.close(), shop?.close()])
})

async function command(...words: readonly string[]) {
  const options = ['--operator-url', operator.operator!, '--operator-key-file', keyFile]
  const child = spawn(process.execPath, [program, ...words, ...options], { stdio: ['ignore', 'pipe', 'pipe'] })
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { out, err, code: code as number }
}

it('jobs of one destination run one after the other', async () => {
  const paths: string[] = []
  for (let n = 0; n < 2; n++)
    paths.push(await createJob(operator, '/v1/resends', { destination: 'shop', ...span, rate: 40 }))
  const [first, second] = await Promise.all(paths.map(path => untilJob(operator, path, hasEnded)))
  expect([first, second]).toMatchObject([{ state: 'done', progress: { sent: count } }, { state: 'done' }])
  expect(Date.parse(second.startedAt)).toBeGreaterThanOrEqual(Date.parse(first.endedAt))
  await shop.until(() => [...shop.successes.values()].every(times => times === 3))
})

it('a cancelled job stops, and what it has sent is delivered', async () => {
  const path = await createJob(operator, '/v1/resends', { destination: 'shop', ...span, rate: 4 })
  await untilJob(operator, path, job => job.progress.sent >= 4)
  expect((await ask(operator, `DELETE ${path}`)).status).toBe(200)
  const { state, progress } = await untilJob(operator, path, hasEnded)
  expect({ state, isComplete: progress.sent >= count }).toEqual({ state: 'cancelled', isComplete: false })
  await shop.until(() => [...shop.successes.values()].filter(times => times === 4).length === progress.sent)
})

it('hookline resend counts with --dry-run, and shows the result', async () => {
  const words = ['resend', '--destination', 'shop', '--since', '1h', '--until', '0s', '--user-ids', 'user-1,user-2']
  const counted = await command(...words, '--dry-run')
  expect(counted).toMatchObject({ code: 0, out: expect.stringContaining('2 would be resent') })
  const before = shop.requests.length
  expect(await command(...words, '--json')).toMatchObject({ code: 0, out: expect.stringContaining('"sent": 2') })
  await shop.until(() => shop.requests.length === before + 2)
  expect(await command('resend', '--destination', 'nowhere', '--since', '1h', '--until', '0s')).toMatchObject({
    code: 2,
    err: expect.stringContaining('destination: names a destination that does not exist, or that Hookline cannot use'),
  })
})

it('hookline replay with --operator-url replays as a job, and continues after Ctrl-C', async () => {
  const dry = await command('replay', '--destination', 'crm', '--dry-run')
  expect(dry).toMatchObject({ code: 0, out: expect.stringMatching(/^40 +crm +http_4xx +\S+\.retry\.1s +-$/m) })
  const options = ['--operator-url', operator.operator!, '--operator-key-file', keyFile]
  const child = spawn(process.execPath, [program, 'replay', '--destination', 'crm', '--rate', '10', ...options])
  const [line] = (await once(child.stderr, 'data')) as [Buffer]
  // Suspends the operator service, so that the job cannot end before the command.
  process.kill(operator.pid, 'SIGSTOP')
  const [, id = ''] = /replay (\S+) created/.exec(String(line)) ?? []
  const said = text(child.stderr)
  const exited = once(child, 'exit')
  child.kill('SIGINT')
  expect((await exited)[0]).toBe(1)
  process.kill(operator.pid, 'SIGCONT')
  expect(await said).toContain(`to follow it, run: hookline replay --follow ${id}; to cancel it, run`)
  expect(await command('replay', '--follow', id)).toMatchObject({
    code: 0,
    out: '40 dead letters read; of those that match the filters: 40 replayed, 0 not replayed; state: done\n',
  })
  await crm.untilDelivered(count)
  expect(crm.duplicates).toBe(0)
})

it('the ledger counts what was replayed and resent, and balances', async () => {
  const { rows, totals } = await until(async () => {
    const { code, out, err } = await command('ledger', '--json')
    // On a slow machine, the operator service may not read all counts in time.
    if (err.includes('not all counts could be read')) return undefined
    expect(code === 0 ? '' : err).toBe('')
    const ledger = JSON.parse(out)
    // A new retry record counts as `repeated` until an offset commit contains its count.
    return ledger.totals.delivered === shop.requests.length + count && ledger.totals.repeated === 0 ? ledger : undefined
  })
  const sum = (id: string, field: string): number =>
    rows
      .filter(({ destination }: { destination: string }) => destination === id)
      .reduce((total: number, row: Record<string, number>) => total + (row[field] ?? 0), 0)
  expect(totals).toMatchObject({ admitted: 2 * count, waiting: 0, difference: 0 })
  expect([sum('crm', 'replayed'), sum('crm', 'deadLettered'), sum('crm', 'delivered')]).toEqual([count, count, count])
  expect(sum('shop', 'replayed')).toBe(shop.requests.length - count)
})
