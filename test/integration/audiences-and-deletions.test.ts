import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { RunningService } from '../../deploy/tools/local/hookline-process.ts'
import { AudienceReceiver } from '../support/audience/receiver.ts'
import { until } from '../support/kafka/admin.ts'
import { runCommand } from '../support/process/in-process-command.ts'
import { startInstallation, type TestInstallation } from '../support/process/test-installation.ts'

const size = 60_000
/**
 * A line of the large list. Hookline ignores the field `pad`, so Kafka stores only a small part of
 * the list.
 */
const lineOf = (n: number): string => `{"userId":"user-${n}-${'x'.repeat(500)}","pad":"${'y'.repeat(5_500)}"}\n`

/** For all tests. Each test has its own audience and users. */
let receiver: AudienceReceiver
let installation: TestInstallation
let service: RunningService
beforeAll(async () => {
  receiver = await AudienceReceiver.started()
  const named = (name: string, more = {}) => ({ name, destinations: ['crm'], ...more })
  installation = await startInstallation({
    operator: { listen: '127.0.0.1:0', keys: [{ name: 'ada', role: 'operate', key: 'operator-key' }] },
    destinations: [{ id: 'crm', sources: ['web'], webhooks: [{ url: receiver.url }] }],
    audiences: {
      emitPerSecond: 100_000,
      list: [
        ...['First time shopper', 'Cut short', 'By command', 'Deleted'].map(name => named(name)),
        named('Lifetime value', { kind: 'trait' }),
        named('Large', { destinations: [] }),
      ],
    },
  })
  service = await installation.run()
})
afterAll(async () => {
  await installation.close()
  await receiver.close()
})

const headers = { authorization: 'Bearer operator-key' }
async function api(path: string, init: RequestInit = {}): Promise<Record<string, unknown>> {
  const response = await fetch(`${service.operator}${path}`, { ...init, headers })
  return { status: response.status, ...((await response.json()) as object) }
}
const syncPath = (name: string): string => `/v1/audiences/${encodeURIComponent(name)}/syncs`
const sync = (name: string, members: readonly string[], query = '') =>
  api(syncPath(name) + query, { method: 'POST', body: members.join('\n') })

async function hookline(...words: readonly string[]) {
  const env = process.env as Record<string, string>
  const { code, out, err } = await runCommand([...words, '--config', installation.configFile], { env })
  return { code, out, err }
}
const json = async (...words: readonly string[]) => JSON.parse((await hookline(...words, '--json')).out)
const untilTold = (values: Readonly<Record<string, unknown>>): Promise<void> =>
  receiver.until(() => Object.entries(values).every(([user, value]) => receiver.values.get(user) === value))
const untilSettled = (name: string): Promise<true> =>
  until(async () => ((await hookline('audience', 'drift', '--name', name)).out.startsWith('every') ? true : undefined))

describe('audiences over HTTP', () => {
  it('full lists send all changes, partial lists only those of their users', async () => {
    const name = 'First time shopper'
    expect(await sync(name, ['h-1', 'h-2', 'h-3'])).toMatchObject({ status: 202, received: 3 })
    await untilTold({ 'h-1': true, 'h-2': true, 'h-3': true })
    await untilSettled(name)
    expect(await sync(name, ['h-2', 'h-3', 'h-4'])).toMatchObject({ status: 202, received: 3 })
    await untilTold({ 'h-1': false, 'h-4': true })
    await untilSettled(name)
    const partial = ['{"userId":"h-2","value":false}', '"h-5"']
    expect(await sync(name, partial, '?mode=partial')).toMatchObject({ status: 202, received: 2 })
    await untilTold({ 'h-2': false, 'h-3': true, 'h-5': true })
    await untilSettled(name)
    expect(receiver.toldAgain).toEqual([])
    expect(await json('audience', 'show', '--name', name)).toMatchObject({
      destinations: [{ id: 'crm', members: 3, inFlight: 0, unknown: 0, different: 0 }],
    })
  })

  it('computed traits have values', async () => {
    await sync('Lifetime value', ['userId,value', 't-1,12.5', 't-2,gold'])
    await untilTold({ 't-1': 12.5, 't-2': 'gold' })
  })

  it('an incomplete list removes no member', async () => {
    const name = 'Cut short'
    await sync(name, ['c-1', 'c-2'])
    await untilTold({ 'c-1': true, 'c-2': true })
    // Records that concern a whole audience, for example the end of a sync, have no key.
    const ends = async () =>
      (await installation.read(installation.topics.audienceInput)).filter(({ key }) => key === null).length
    const before = await ends()
    const cut = request(`${service.operator}${syncPath(name)}`, { method: 'POST', headers })
    cut.on('error', () => undefined).write('c-1\nc-3\nc-4')
    await untilTold({ 'c-3': true })
    cut.destroy()
    await until(async () =>
      (await installation.log()).some(
        ({ msg, audience }) => audience === name && String(msg).includes('sync incomplete'),
      )
        ? true
        : undefined,
    )
    // The third line has no line end, so it is incomplete.
    expect(receiver.values.get('c-4')).toBeUndefined()
    expect(await ends()).toBe(before)
    expect(receiver.values.get('c-2')).toBe(true)
    expect(await sync(name, ['c-1', '{"userId":""}'])).toMatchObject({ status: 400, code: 'invalid_body' })
    expect(await sync(name, [])).toMatchObject({ status: 400, code: 'invalid_body' })
    expect(await ends()).toBe(before)
    expect(receiver.values.get('c-2')).toBe(true)
  })

  it(
    'the memory for a list does not depend on its length',
    async () => {
      // The operator service runs alone, because the memory of the audiences service must not be
      // measured.
      const operators = await installation.run({}, ['--services', 'operator'])
      const resident = async () => (await operators.metrics()).get('process_resident_memory_bytes') as number
      const before = await resident()
      const sending = request(`${operators.operator}${syncPath('Large')}`, { method: 'POST', headers })
      const answered = new Promise<string>((resolve, reject) => {
        sending.on('error', reject).on('response', async response => {
          let text = ''
          for await (const piece of response) text += String(piece)
          resolve(text)
        })
      })
      let most = before
      for (let from = 0; from < size; from += 600) {
        const lines = Array.from({ length: 600 }, (_, index) => lineOf(from + index))
        if (!sending.write(lines.join(''))) await new Promise(resolve => sending.once('drain', resolve))
        most = Math.max(most, await resident())
      }
      sending.end()
      expect(JSON.parse(await answered)).toMatchObject({ received: size })
      // Memory grows by about 100 MiB: garbage, and 8 MiB in transit. The list has 345 MiB.
      expect(most - before).toBeLessThan(256 * 1_048_576)
      expect(await operators.stop()).toBe(0)
    },
    5 * 60_000,
  )
})

describe('audiences by commands', () => {
  it('sync, wait, reset, sync again: every value is sent once more', async () => {
    const name = 'By command'
    const list = ['audience', 'sync', '--name', name, '--members', '-', '--wait']
    const env = process.env as Record<string, string>
    const run = (members: string) => runCommand([...list, '--config', installation.configFile], { env, stdin: members })
    expect(await run('b-1\nb-2')).toMatchObject({ code: 0, err: '' })
    expect([receiver.values.get('b-1'), receiver.values.get('b-2')]).toEqual([true, true])
    const before = receiver.taken.size
    const again = await run('b-1\nb-2')
    expect(again.out).toMatch(/2 members uploaded in .* s\nmemberships: 2 delivered \(the command waited for .* s\)\n$/)
    expect(receiver.taken.size).toBe(before)

    expect((await hookline('audience', 'reset', '--name', name)).code).toBe(0)
    await run('b-1\nb-2')
    expect(receiver.taken.size).toBe(before + 2)
    receiver.toldAgain.length = 0

    receiver.answer = user => (user === 'b-3' ? 400 : 200)
    const failed = await run('b-1\nb-2\nb-3')
    receiver.answer = () => 200
    expect(failed).toMatchObject({ code: 1, err: expect.stringContaining('1 change not delivered') })
    const drift = await hookline('audience', 'drift', '--name', name, '--json')
    expect(drift.code).toBe(1)
    expect(JSON.parse(drift.out)).toMatchObject({ userId: 'b-3', destination: 'crm', standing: 'unknown' })
    const user = await json('audience', 'show', '--name', name, '--user', 'b-3')
    expect(user.destinations).toMatchObject([{ standing: 'unknown', desired: true, acknowledged: null }])
    const { audiences } = await json('audience', 'list')
    expect(audiences.map((each: { name: string }) => each.name)).toContain(name)
  })
})

describe('deletions over HTTP', () => {
  it('send deletes, forget memberships, and have a status', async () => {
    await sync('Deleted', ['d-1', 'd-2'])
    await untilTold({ 'd-1': true, 'd-2': true })
    await untilSettled('Deleted')
    const body = JSON.stringify({ userIds: ['d-1'], suppress: true })
    const accepted = await api('/v1/regulations', { method: 'POST', body })
    expect(accepted).toEqual({ status: 'running', id: expect.any(String) })
    const path = `/v1/regulations/${accepted['id']}`
    const finished = await until(async () => {
      const found = await api(path)
      return found['status'] === 'finished' ? found : undefined
    })
    expect(finished).toMatchObject({
      sources: [{ id: 'web', destinations: [{ id: 'crm', delivered: 1, undelivered: 0, waiting: 0 }] }],
    })
    await until(async () => {
      const { destinations } = await json('audience', 'show', '--name', 'Deleted', '--user', 'd-1')
      return destinations.length === 0 || undefined
    })
    // The deletion has sent a delete message, but the receiver changes its values only after an
    // identify message.
    expect(receiver.values.get('d-1')).toBe(true)
    expect((await json('unsuppress-user', '--user', 'd-1', 'd-2')).lifted).toEqual(['d-1'])
    expect(await api('/v1/regulations/d-0')).toMatchObject({ code: 'not_found' })
  })
})

it('SIGTERM ends the process with exit code 0', async () => {
  expect(await service.stop()).toBe(0)
})
