import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { storedMessageId } from '../../../src/core/message/message-ids-and-required-identifiers.ts'
import { ManualClock } from '../../support/manual-clock.ts'
import { type MemoryJobs, memoryJobs } from '../../support/operator/memory-jobs.ts'
import { answered } from '../../support/operator/memory-objects.ts'
import { operatorKey, ScriptedOperatorApi } from '../../support/operator/scripted-deletion-and-audience-api.ts'
import { askObjects } from '../../support/operator/send-operator-api-request.ts'
import { startOperator } from '../../support/operator/server.ts'

/* No process runs the jobs. */

let clock: ManualClock
let jobs: MemoryJobs
let server: Awaited<ReturnType<typeof startOperator>>
const span = { destination: 'filed', since: '2026-11-25T10:00:00Z', until: '2026-11-25T11:00:00Z' }

beforeEach(async () => {
  clock = new ManualClock()
  jobs = await memoryJobs(clock)
  server = await startOperator(new ScriptedOperatorApi(), { jobs: jobs.api })
})
afterEach(() => server.stop())

const ask = (line: string, ...more: [unknown?, Parameters<typeof askObjects>[3]?]) => askObjects(server, line, ...more)

it('a resend is created, shown, listed and cancelled', async () => {
  jobs.spans = [
    { topic: 'hookline.events', partition: 0, beginning: 0, from: 10, to: 40 },
    { topic: 'hookline.events', partition: 1, beginning: 7, from: 7, to: 9 },
  ]
  const created = await ask('POST /v1/resends', { ...span, types: ['track'], userIds: ['u1'], rate: 20 })
  const shown = {
    ...{ kind: 'resend', state: 'waiting', createdBy: 'ada', destination: 'filed', types: ['track'], rate: 20 },
    ...{ since: '2026-11-25T10:00:00.000Z', until: '2026-11-25T11:00:00.000Z', userIds: ['u1'] },
    progress: { read: 0, total: 32, sent: 0, skipped: 0 },
    missing: [{ partition: 1, firstOffset: 7 }],
  }
  expect(created).toMatchObject({ status: 202, body: shown })
  const path = `/v1/resends/${created.body.id}`
  expect(await ask(`GET ${path}`)).toMatchObject({ status: 200, body: shown })
  expect((await ask('GET /v1/resends')).body).toEqual({ resends: [created.body] })
  expect((await ask('GET /v1/replays')).body).toEqual({ replays: [] })
  for (let times = 0; times < 2; times++)
    expect(await ask(`DELETE ${path}`)).toMatchObject({ status: 200, body: { state: 'cancelled' } })
  expect(server.audited).toMatchObject([
    { key: 'ada', role: 'operate', action: 'create_resend', id: created.body.id, destination: 'filed', result: 'ok' },
    { action: 'cancel_resend', id: created.body.id, result: 'ok' },
    { action: 'cancel_resend', id: created.body.id, result: 'ok' },
  ])
  expect(JSON.stringify(server.audited)).not.toContain('u1')
})

it('a key with the role read sees the number of user ids of a resend, not the ids', async () => {
  const { body: job } = await ask('POST /v1/resends', { ...span, userIds: ['u1'] })
  const { userIds: _, ...others } = job
  const shown = { ...others, userCount: 1 }
  const asReader = (path: string) => ask(`GET ${path}`, undefined, { as: 'read' })
  expect((await asReader(`/v1/resends/${job.id}`)).body).toEqual(shown)
  expect((await asReader('/v1/resends')).body).toEqual({ resends: [shown] })
})

it('a replay is created with its filters', async () => {
  const filters = { destination: '-', reason: 'undecodable', outcome: 'http_5xx', since: '2h', message: 'm-1' }
  const { status, body } = await ask('POST /v1/replays', { filters, dryRun: true, evenDisconnected: true })
  expect({ status, body }).toMatchObject({
    status: 202,
    body: {
      ...{ kind: 'replay', dryRun: true, evenDisconnected: true, progress: { seen: 0, replayed: 0, refused: 0 } },
      filters: { ...filters, since: expect.stringMatching(/Z$/) },
    },
  })
})

describe('a request that is refused', () => {
  it.each<[string, object, readonly string[]]>([
    ['replays', {}, ['filters']],
    ['replays', { filters: { destination: 'nowhere' } }, ['filters.destination']],
    [
      'replays',
      { filters: { reason: 'no', outcome: 'no', since: 'no' } },
      ['filters.reason', 'filters.outcome', 'filters.since'],
    ],
    ['replays', { filters: { since: '1h', until: '2h' } }, ['filters.until']],
    ['replays', { filters: { messageId: 'm-1' } }, ['filters.messageId']],
    ['replays', { filters: {}, rate: 0, dryRun: 'yes' }, ['rate', 'dryRun']],
    ['resends', {}, ['destination', 'since', 'until']],
    ['resends', { ...span, destination: 'nowhere' }, ['destination']],
    ['resends', { ...span, types: ['delete'], userIds: [], rate: 10_001 }, ['types[0]', 'userIds', 'rate']],
    // With all these user ids, each record of the job could exceed Kafka's maximum record size.
    ['resends', { ...span, userIds: Array.from({ length: 70 }, () => 'u'.repeat(1_000)) }, ['userIds']],
    ['resends', { ...span, until: span.since }, ['until']],
    ['resends', { ...span, filters: {} }, ['filters']],
  ])('POST /v1/%s %j names the fields', async (path, body, fields) => {
    const answer = await ask(`POST /v1/${path}`, body)
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_body' } })
    const problems: readonly { path: string; message: string; hint: string }[] = answer.body.problems
    expect(problems.map(problem => problem.path)).toEqual(fields)
    for (const { message, hint } of problems) expect(Math.min(message.length, hint.length)).toBeGreaterThan(5)
    expect(jobs.log.records('hookline.jobs')).toEqual([])
  })

  it('comes from a key with the role read, or from nobody', async () => {
    for (const line of ['POST /v1/resends', 'POST /v1/replays', 'DELETE /v1/resends/x']) {
      expect(await ask(line, span, { as: 'read' })).toMatchObject({ status: 403, body: { code: 'forbidden' } })
      expect((await ask(line, span, { as: 'nobody' })).status).toBe(401)
    }
    expect((await ask('GET /v1/resends', undefined, { as: 'read' })).status).toBe(200)
  })

  it('is about a job that does not exist, or uses another method', async () => {
    for (const line of ['GET /v1/resends/x', 'DELETE /v1/replays/x']) {
      const asked = ask(line)
      while (clock.timers === 0) await new Promise(setImmediate)
      await clock.advance(1_000)
      expect(await asked).toMatchObject({ status: 404, body: { code: 'not_found', problems: [] } })
    }
    expect((await ask('PUT /v1/replays/x', {})).status).toBe(405)
  })

  it('would be the 101st job that has not ended', async () => {
    for (let n = 0; n < 100; n++) expect((await ask('POST /v1/resends', span)).status).toBe(202)
    expect(await ask('POST /v1/resends', span)).toMatchObject({ status: 409, body: { code: 'too_many_jobs' } })
  })
})

it('a replay selects by the id with which Hookline stores the message', async () => {
  const message = 'm'.repeat(101)
  const { body } = await ask('POST /v1/replays', { filters: { message } })
  expect(body.filters).toEqual({ message: storedMessageId(message) })
})

it('a process shows and cancels a job that another one has just created, before it has read it', async () => {
  const other = await memoryJobs(clock)
  const job = await other.api.create({ kind: 'resend', body: span, by: 'ada' })
  if (job.kind === 'refused') throw new Error(job.message)
  const asked = ask(`GET /v1/resends/${job.id}`)
  while (clock.timers === 0) await new Promise(setImmediate)
  await answered(jobs.log, jobs.store.create(job))
  expect(await asked).toMatchObject({ status: 200, body: { id: job.id, state: 'waiting' } })
})

it('requests with the same Idempotency-Key create one job', async () => {
  const post = async (key: string) => {
    const headers = { authorization: `Bearer ${operatorKey}`, 'idempotency-key': key }
    const response = await fetch(`${server.url}/v1/resends`, { method: 'POST', headers, body: JSON.stringify(span) })
    return { status: response.status, ...((await response.json()) as { id?: string; code?: string }) }
  }
  const [first, second, other] = [await post('k-1'), await post('k-1'), await post('k-2')]
  expect([first.status, second.status, other.status]).toEqual([202, 202, 202])
  expect(second.id).toBe(first.id)
  expect(other.id).not.toBe(first.id)
  expect(await post('two words')).toMatchObject({ status: 400, code: 'invalid_precondition' })
})

describe('a repeated Idempotency-Key', () => {
  const post = async (path: string, body: object) => {
    const headers = { authorization: `Bearer ${operatorKey}`, 'idempotency-key': 'k-1' }
    const response = await fetch(server.url + path, { method: 'POST', headers, body: JSON.stringify(body) })
    return { status: response.status, body: (await response.json()) as { id?: string; code?: string } }
  }

  it('is refused with another body', async () => {
    await post('/v1/resends', span)
    const refused = { status: 422, body: { code: 'idempotency_key_reused', problems: [{ path: 'Idempotency-Key' }] } }
    expect(await post('/v1/resends', { ...span, rate: 10 })).toMatchObject(refused)
    expect(await post('/v1/resends', { ...span, types: ['track'] })).toMatchObject(refused)
    expect((await ask('GET /v1/resends')).body.resends).toHaveLength(1)
  })

  it('returns the job for the same body with its fields in another order', async () => {
    const { body: job } = await post('/v1/resends', { ...span, since: '2h', until: '1h' })
    await clock.advance(60_000)
    const { destination } = span
    const repeated = await post('/v1/resends', { until: '1h', since: '2h', destination })
    expect(repeated).toMatchObject({ status: 202, body: { id: job.id } })
  })

  it('is refused when a concurrent request with another body creates the job', async () => {
    const answers = await Promise.all([post('/v1/resends', span), post('/v1/resends', { ...span, rate: 10 })])
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 422])
  })

  it('creates jobs with different ids as a resend and as a replay', async () => {
    const [resend, replay] = [await post('/v1/resends', span), await post('/v1/replays', { filters: {} })]
    expect([resend.status, replay.status]).toEqual([202, 202])
    expect(resend.body.id).not.toBe(replay.body.id)
  })
})

it('a job that Kafka does not confirm may exist', async () => {
  jobs.log.unwritable.add('hookline.jobs')
  expect(await ask('POST /v1/resends', span)).toMatchObject({ status: 503, body: { code: 'unavailable' } })
})
