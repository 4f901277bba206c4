import { beforeEach, describe, expect, it } from '@jest/globals'
import { requestsOf } from '../../../src/core/delivery/build-and-sign-requests.ts'
import { defaultPayload } from '../../support/builders.ts'
import { closingAfterEach } from '../../support/cleanup.ts'
import { ManualClock } from '../../support/manual-clock.ts'
import { type MemoryObjects, memoryObjects } from '../../support/operator/memory-objects.ts'
import { objectsApi } from '../../support/operator/memory-objects-api.ts'
import { ScriptedOperatorApi } from '../../support/operator/scripted-deletion-and-audience-api.ts'
import { askObjects } from '../../support/operator/send-operator-api-request.ts'
import { startOperator } from '../../support/operator/server.ts'

const closing = closingAfterEach()
const old = 'a-shared-secret-of-crm'
const hour = 3_600_000
let server: Awaited<ReturnType<typeof startOperator>>
let memory: MemoryObjects
let clock: ManualClock

beforeEach(async () => {
  clock = new ManualClock()
  memory = await memoryObjects(clock)
  const objects = await objectsApi({ memory, clock })
  server = await startOperator(new ScriptedOperatorApi(), { objects })
  closing({ close: () => server.stop() })
  const document = {
    ...{ sources: ['web'], sharedSecret: old, policy: { standardWebhooks: true } },
    webhooks: [{ url: 'https://crm.example.com/hooks' }],
  }
  await ask('PUT /v1/destinations/crm', document)
  await ask('PUT /v1/sources/app', { writeKey: 'a-write-key-of-app-1' })
})
const ask = (line: string, body?: unknown) => askObjects(server, line, body)
const rotate = (body?: unknown) => ask('POST /v1/destinations/crm/rotate-secret', body)

function signedNow() {
  const destination = memory.merged().settings.destinations.find(({ id }) => id === 'crm')!
  const attempt = { messageId: 'm', body: Buffer.from('{}'), at: clock.now(), payload: defaultPayload }
  const [call] = requestsOf({ ...attempt, destination, webhooks: destination.webhooks })
  return {
    signature: call!.headers['X-Signature'],
    standard: call!.headers['webhook-signature']!.split(' ').length,
  }
}

describe('rotate-secret', () => {
  it('shows the new secret once; the old one expires after the overlap without a further request', async () => {
    const before = signedNow()
    const { status, body } = await rotate({ overlap: '2h' })
    expect([status, body.version]).toEqual([200, 2])
    expect(body.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(Buffer.from(body.secret.slice(6), 'base64')).toHaveLength(32)
    expect(Date.parse(body.rotatesAt)).toBe(clock.now() + 2 * hour)
    expect(JSON.stringify((await ask('GET /v1/destinations/crm')).body)).not.toContain('whsec')

    expect(signedNow()).toEqual({ signature: before.signature, standard: 2 })
    await clock.advance(2 * hour - 1)
    expect(signedNow()).toEqual({ signature: before.signature, standard: 2 })
    await clock.advance(1)
    const after = signedNow()
    expect(after.signature).not.toBe(before.signature)
    expect(after.standard).toBe(1)
  })

  it('keeps the old secret for 24 h by default', async () => {
    const { body } = await rotate()
    expect(Date.parse(body.rotatesAt)).toBe(clock.now() + 24 * hour)
    expect(body.document).toMatchObject({ sharedSecret: ['***', '***'], secretRotatesAt: body.rotatesAt })
  })

  it('does not start a second rotation during the overlap, and starts one afterwards', async () => {
    await rotate({ overlap: '1h' })
    const { status, body } = await rotate()
    expect([status, body.code]).toEqual([409, 'rotation_in_progress'])
    await clock.advance(hour)
    expect((await rotate()).status).toBe(200)
    expect(signedNow().standard).toBe(2)
  })

  it('says how to return to the old secret when the response with the new one was lost', async () => {
    const before = signedNow()
    await rotate({ overlap: '1h' })
    const { body } = await rotate()
    expect(body.message).toContain('"secretRotatesAt": null and "sharedSecret": "*** (<fingerprint>)"')
    const { fingerprints } = (await ask('GET /v1/destinations/crm')).body
    const patch = { secretRotatesAt: null, sharedSecret: `*** (${fingerprints['sharedSecret[0]']})` }
    const patched = await askObjects(server, 'PATCH /v1/destinations/crm', patch, { ifMatch: 2 })
    expect([patched.status, patched.body.document.sharedSecret]).toEqual([200, '***'])
    await clock.advance(2 * hour)
    expect(signedNow()).toEqual(before)
    expect((await rotate()).status).toBe(200)
  })

  it('says how to undo the rotation when Hookline could not confirm it', async () => {
    memory.log.unwritable.add('hookline.config')
    const { status, body } = await rotate()
    expect([status, body.code]).toEqual([503, 'unavailable'])
    expect(body.message).toContain(
      'If the destination now has two shared secrets, remove the new secret: send a PATCH with "secretRotatesAt": null',
    )
  })

  it('with an overlap of 0 the new secret replaces all others', async () => {
    await rotate({ overlap: '1h' })
    const { status, body } = await rotate({ overlap: '0s' })
    expect([status, 'rotatesAt' in body, body.document.sharedSecret]).toEqual([200, false, '***'])
    expect(signedNow().standard).toBe(1)
  })

  it('gives a destination without a secret one that is used immediately', async () => {
    await askObjects(server, 'PATCH /v1/destinations/crm', { sharedSecret: null, policy: null }, { ifMatch: '*' })
    expect((await rotate()).body).toMatchObject({ version: 3, document: { sharedSecret: '***' } })
  })

  it.each<[unknown, string]>([
    [{ overlap: 24 }, 'overlap'],
    [{ overlap: '721h' }, 'overlap'],
    [{ overlap: '-1h' }, 'overlap'],
    [{ overlapp: '1h' }, 'overlapp'],
  ])('refuses %j', async (given, path) => {
    const { status, body } = await rotate(given)
    expect([status, body.code, body.problems[0].path]).toEqual([400, 'invalid_body', path])
    expect((await ask('GET /v1/destinations/crm')).body.version).toBe(1)
  })

  it('is refused in a document without two secrets', async () => {
    const patch = { secretRotatesAt: '2026-12-31T18:00:00Z' }
    const { status, body } = await askObjects(server, 'PATCH /v1/destinations/crm', patch, { ifMatch: 1 })
    expect([status, body.problems[0].path]).toEqual([422, 'secretRotatesAt'])
  })
})

describe('rotate-key', () => {
  const rotateKey = (body?: unknown) => ask('POST /v1/sources/app/rotate-key', body)
  const keys = () =>
    memory
      .merged()
      .settings.sources.find(({ id }) => id === 'app')!
      .writeKeys.map(key => key.reveal())

  it('adds keys, up to three', async () => {
    const [first, second] = [await rotateKey(), await rotateKey()]
    expect([first.body.keys, second.body.keys]).toEqual([2, 3])
    expect(keys()).toEqual([second.body.writeKey, first.body.writeKey, 'a-write-key-of-app-1'])
    const { status, body } = await rotateKey()
    expect([status, body.code]).toEqual([409, 'too_many_keys'])
    expect(keys()).toHaveLength(3)
  })

  it('keeps as many earlier keys as the request says', async () => {
    await rotateKey()
    const { body } = await rotateKey({ keep: 1 })
    expect(keys()).toEqual([body.writeKey, expect.not.stringMatching('app-1')])
    expect((await rotateKey({ keep: 0 })).body).toMatchObject({ keys: 1, document: { writeKey: '***' } })
  })

  it.each([{ keep: 3 }, { keep: '1' }, { keep: -1 }, { kep: 1 }])('refuses %j', async given => {
    const { status, body } = await rotateKey(given)
    expect([status, body.code]).toEqual([400, 'invalid_body'])
    expect(keys()).toEqual(['a-write-key-of-app-1'])
  })
})

it('two rotations at the same time give two versions, and each answered key works', async () => {
  const answers = await Promise.all([1, 2].map(() => ask('POST /v1/sources/app/rotate-key')))
  const settings = memory.merged().settings.sources.find(({ id }) => id === 'app')!
  const keys = settings.writeKeys.map(key => key.reveal())
  for (const { body } of answers) expect(keys).toContain(body.writeKey)
  expect(answers.map(({ body }) => body.version).sort()).toEqual([2, 3])
})
