import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from '@jest/globals'
import { runJob } from '../../../src/app/create-and-follow-job.ts'
import { reportFailure } from '../../../src/app/create-command.ts'
import { closingAfterEach } from '../../support/cleanup.ts'
import { configFolder } from '../../support/config/config-folder.ts'
import { ManualClock } from '../../support/manual-clock.ts'
import { HttpEndpoint } from '../../support/network/http-endpoint.ts'
import { createTestIo, runCommand } from '../../support/process/in-process-command.ts'

const closing = closingAfterEach()
const folder = await configFolder({ 'operator.key': 'the-key\n' })

type Respond = (response: ServerResponse, request: IncomingMessage) => void

const json =
  (status: number, body: object): Respond =>
  response =>
    void response.writeHead(status).end(JSON.stringify(body))
const job = { id: 'r-1', kind: 'replay', state: 'done', createdAt: '2026-03-01T00:00:00Z', progress: {} }
const create = json(202, job)
const start = json(202, { ...job, state: 'running' })
const lose: Respond = response => void response.destroy()
const badGateway: Respond = response => void response.writeHead(502).end('<html>')
const unavailable = json(503, { code: 'unavailable', message: 'Kafka did not confirm the job.' })

/** A clock that, when a timer is set, advances to the time of the timer. */
class FastClock extends ManualClock {
  override after(delay: number, run: () => void): () => void {
    const cancel = super.after(delay, run)
    void this.advance(delay)
    return cancel
  }
}

async function createReplay(responses: readonly Respond[], signal?: AbortSignal, cancel?: string) {
  const keys: unknown[] = []
  const server = closing(
    new HttpEndpoint(async (request, response) => {
      keys.push(request.headers['idempotency-key'])
      await text(request)
      responses[Math.min(keys.length, responses.length) - 1]?.(response, request)
    }),
  )
  await server.start()
  const io = createTestIo(signal && { signal })
  const options = { operatorUrl: server.url, operatorKeyFile: `${folder}/operator.key`, ...(cancel && { cancel }) }
  const ended = runJob('replay', options, io, { body: () => ({}), clock: new FastClock() })
  const code = await ended.then(
    () => 0,
    error => reportFailure(error, io),
  )
  return { code, err: io.err().replaceAll(server.url, 'URL'), keys }
}

const repeats = (code: string): string =>
  `hookline: the operator service did not confirm that the replay was created (${code}); the command repeats the request for up to 60 s; this does not create a second replay\n`
const mayExist =
  'hookline: the replay may have been created: look for it in the console or with GET /v1/replays before you run the command again; the last error: '

describe('the request that creates a job', () => {
  it.each([
    ['a lost response', lose, 'no_response'],
    ['an unavailable service', unavailable, 'unavailable'],
    ['an error page of a proxy', badGateway, 'no_response'],
  ])('is repeated with the same idempotency key after %s', async (_name, fail, code) => {
    const replay = await createReplay([fail, lose, unavailable, create])
    expect(replay).toMatchObject({ code: 0, err: expect.stringContaining(repeats(code)) })
    expect(replay.err).toContain('hookline: replay r-1 created')
    expect(replay.keys).toHaveLength(4)
    expect(new Set(replay.keys).size).toBe(1)
  })

  it('is repeated for a minute', async () => {
    const { keys, ...result } = await createReplay([lose, unavailable])
    const lastError = 'the operator API responded with status 503 (unavailable): Kafka did not confirm the job'
    expect(result).toEqual({ code: 1, err: `${repeats('no_response')}${mayExist}${lastError}\n` })
    expect(keys).toHaveLength(62)
  })

  it('is not repeated after a permanent failure', async () => {
    const refuse = json(403, { code: 'forbidden', message: 'Not with this key.' })
    expect(await createReplay([refuse])).toMatchObject({ code: 1, keys: [expect.any(String)] })
    const { keys, ...result } = await createReplay([lose, refuse])
    const lastError = 'the operator key has the role "read"; use a key with the role "operate"'
    expect(result).toEqual({ code: 1, err: `${repeats('no_response')}${mayExist}${lastError}\n` })
    expect(keys).toHaveLength(2)
  })

  it('is not repeated if it was not sent', async () => {
    const server = new HttpEndpoint(async () => {})
    await server.start()
    const { url } = server
    await server.close()
    const options = ['--operator-url', url, '--operator-key-file', `${folder}/operator.key`]
    expect(await runCommand(['replay', '--destination', 'crm', ...options])).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^hookline: no connection to the operator API at .* \(ECONNREFUSED\); .*\n$/),
    })
  })

  it('is not repeated after a signal', async () => {
    const controller = new AbortController()
    const interrupt: Respond = () => controller.abort()
    expect(await createReplay([interrupt], controller.signal)).toMatchObject({
      code: 1,
      err: 'hookline: interrupted before the response from URL; the operator service may have carried out the request: check the result before you run the command again\n',
      keys: [expect.any(String)],
    })
  })
})

describe('the requests for the progress', () => {
  const noResponse = /\nhookline: no response from URL \(UND_ERR_SOCKET\); run the command again\n$/

  it('are repeated for a minute after temporary failures', async () => {
    expect(await createReplay([start, lose, unavailable, badGateway, create])).toMatchObject({ code: 0 })
    const { code, err, keys } = await createReplay([start, lose])
    expect({ code, err }).toEqual({ code: 1, err: expect.stringMatching(noResponse) })
    expect(keys).toHaveLength(62)
  })

  it('show why the job does not advance, once for each error', async () => {
    const failing = (error?: string) => json(200, { ...job, state: 'running', error })
    const errors = ['registry\nis down', 'registry\nis down', 'no leader', undefined, 'no leader']
    const { code, err } = await createReplay([start, ...errors.map(failing), json(200, job)])
    expect(code).toBe(0)
    expect(err.split('\n').filter(line => line.includes('tries again'))).toEqual([
      'hookline: replay r-1: the operator service tries again after an error: registry\u{fffd}is down',
      'hookline: replay r-1: the operator service tries again after an error: no leader',
      'hookline: replay r-1: the operator service tries again after an error: no leader',
    ])
  })

  it('do not show the error of a job that has failed as a further try', async () => {
    const { code, err } = await createReplay([start, json(200, { ...job, state: 'failed', error: 'removed' })])
    expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining('hookline: replay r-1 failed: removed\n') })
    expect(err).not.toContain('tries again')
  })

  it('end at a signal, and the command prints how to follow the job', async () => {
    const controller = new AbortController()
    const interrupt: Respond = () => controller.abort()
    expect(await createReplay([start, interrupt], controller.signal)).toMatchObject({
      code: 1,
      err: expect.stringContaining('to follow it, run: hookline replay --follow r-1; to cancel it, run'),
    })
  })
})

describe('the exit code', () => {
  const refused = { progress: { refused: 1 } }
  const tooLarge = { kind: 'resend', progress: { tooLarge: 2 } }
  const missing = { kind: 'resend', missing: [{ partition: 3, firstOffset: 8 }] }
  it.each([
    ['dead letters were not replayed', refused, /\nhookline: 1 selected dead letter not replayed; .*\n$/],
    [
      'events are too large',
      tooLarge,
      '\nhookline: 2 selected events not resent, because they are too large for the retry topic; raise max.message.bytes of the retry topics, then resend again\n',
    ],
  ])('is 1 if %s, except after a dry run', async (_, given, reason) => {
    const { code, err } = await createReplay([json(202, { ...job, ...given })])
    expect(code).toBe(1)
    expect(err).toMatch(reason)
    expect(await createReplay([json(202, { ...job, ...given, dryRun: true })])).toMatchObject({ code: 0 })
  })
  it('is 2 if the operator API refuses an option', async () => {
    const problem = { path: 'rate', message: 'must be at most 10000', hint: 'use a lower rate' }
    const refuse = json(400, { code: 'invalid_body', message: 'The body is not valid.', problems: [problem] })
    expect(await createReplay([refuse])).toMatchObject({
      code: 2,
      err: expect.stringContaining('rate: must be at most 10000 (use a lower rate)'),
    })
  })
  it.each([
    ['events may be missing', missing, undefined],
    ['the job was cancelled with --cancel', { ...tooLarge, state: 'cancelled' }, 'r1'],
  ])('is 0 if %s', async (_, given, cancel) => {
    expect(await createReplay([json(202, { ...job, ...given })], undefined, cancel)).toMatchObject({ code: 0 })
  })
})

it.each([
  ['replay', '--follow'],
  ['replay', '--cancel'],
  ['resend', '--follow'],
  ['resend', '--cancel'],
])('%s rejects an empty id in %s', async (kind, option) => {
  expect(await runCommand([kind, option, ''])).toEqual({
    code: 2,
    out: '',
    err: `hookline: ${option}: the id of a ${kind} must not be empty; use the id that the command printed when it created the ${kind}\n`,
  })
})
