import { Writable } from 'node:stream'
import { beforeEach, describe, expect, it } from '@jest/globals'
import type { ObjectApiClient } from '../../../../../src/adapters/operator-client/object-api-client.ts'
import { rotateKey, rotateSecret } from '../../../../../src/app/commands/config-objects/delete-switch-rotate.ts'
import type { WebhookTransport } from '../../../../../src/core/webhook-ports.ts'
import { closingAfterEach } from '../../../../support/cleanup.ts'
import { objectsCommand } from '../../../../support/operator/run-operator-api-commands.ts'
import { createTestIo } from '../../../../support/process/in-process-command.ts'

const closing = closingAfterEach()
let status: number
const transport: WebhookTransport = {
  post: (_call, onEnd) => void setImmediate(() => onEnd({ kind: 'answered', status, retryAfter: undefined })),
  hasIdleConnection: () => false,
  close: async () => {},
}
let installation: Awaited<ReturnType<typeof objectsCommand>>
beforeEach(async () => {
  status = 204
  installation = closing(await objectsCommand({ transport }))
  const webhooks = [{ url: 'https://crm.example.com/hooks', headers: { Authorization: 'Bearer a-token' } }]
  await installation.put('destination', { id: 'crm', sources: ['web'], sharedSecret: 'a secret', webhooks })
  await installation.put('source', { id: 'app', writeKey: 'a write key of the app' })
})

const destinations = (...argv: readonly string[]) => installation.run(['destinations', ...argv])
const sources = (...argv: readonly string[]) => installation.run(['sources', ...argv])

describe('pause, resume, enable, disable', () => {
  it.each([
    ['pause', 'resume', 'paused', 'resumed', { paused: true }],
    ['disable', 'enable', 'disabled', 'enabled', { enabled: false }],
  ])('%s and %s change the destination once', async (first, second, done, undone, document) => {
    expect(await destinations(first, 'crm')).toEqual({ code: 0, out: `destination crm ${done}\n`, err: '' })
    expect(installation.documents('destination')['crm']).toMatchObject(document)
    expect(await destinations(first, 'crm')).toMatchObject({ code: 0, out: `destination crm is already ${done}\n` })
    expect(await destinations(second, 'crm')).toMatchObject({ code: 0, out: `destination crm ${undone}\n` })
    expect(installation.objects.get('destination', 'crm')).toMatchObject({ version: 3, state: 'used' })
  })

  it('prints JSON', async () => {
    const { out } = await destinations('pause', 'crm', '--json')
    expect(JSON.parse(out)).toEqual({ id: 'crm', result: 'paused', version: 2 })
  })

  it.each([
    ['filed', 'destination filed is defined in the configuration file of the services; change it there'],
    ['cmr', 'no destination has the id cmr; see: hookline destinations list'],
  ])('fails for %s', async (id, message) => {
    expect(await destinations('pause', id)).toEqual({ code: 1, out: '', err: `hookline: ${message}\n` })
  })
})

describe('delete', () => {
  it('deletes the object', async () => {
    expect(await destinations('delete', 'crm')).toEqual({ code: 0, out: 'destination crm deleted\n', err: '' })
    expect(installation.documents('destination')).toEqual({})
    expect(await destinations('delete', 'crm')).toMatchObject({ code: 1, out: '' })
  })

  it('does not delete an object that another writer has changed since it was read', async () => {
    const { change } = installation.objects
    installation.objects.change = async request => {
      await change({
        kind: 'source',
        id: 'app',
        by: 'bob',
        expected: { kind: 'any' },
        next: () => ({ writeKey: 'another key of the app' }),
      })
      return change(request)
    }
    expect(await sources('delete', 'app')).toEqual({
      ...{ code: 1, out: '' },
      err: 'hookline: source app was changed by another client of the operator API or by Hookline itself while the command ran; run the command again\n',
    })
    expect(installation.objects.get('source', 'app')?.version).toBe(2)
  })

  it('names the destination that uses a source', async () => {
    await installation.put('destination', { id: 'b', sources: ['app'], webhooks: [{ url: 'https://b.example.com' }] })
    expect(await sources('delete', 'app')).toMatchObject({
      code: 1,
      err: expect.stringContaining('is used by the destination b'),
    })
  })
})

describe('rotate-secret and rotate-key', () => {
  it('print only the new secret on stdout', async () => {
    const { code, out, err } = await destinations('rotate-secret', 'crm', '--overlap', '1h')
    expect(code).toBe(0)
    expect(out).toMatch(/^whsec_[A-Za-z0-9+/]{43}=\n$/)
    expect(err).toMatch(
      /^hookline: the new secret of destination crm is shown only once; until \d{4}-.*Z the old secret signs X-Signature, and both secrets sign the Standard Webhooks headers; the receiver must accept the new secret before that time\n$/,
    )
    expect(err).not.toContain(out.trim())
    expect(installation.documents('destination')['crm']).toMatchObject({ sharedSecret: ['***', '***'] })
  })

  it('replace the secret immediately without an overlap', async () => {
    const { out, err } = await destinations('rotate-secret', 'crm', '--overlap', '0s', '--json')
    expect(JSON.parse(out)).toEqual({ id: 'crm', secret: expect.stringMatching(/^whsec_/), version: 2 })
    expect(err).toContain(
      '; Hookline now signs all requests with this secret, so the receiver must accept the secret now\n',
    )
  })

  it('have exit code 2 for an overlap that is not a duration', async () => {
    expect(await destinations('rotate-secret', 'crm', '--overlap', '1d')).toMatchObject({
      code: 2,
      err: expect.stringContaining('--overlap: must be a duration of at most 720h'),
    })
  })

  it('refuse a second rotation during the first one', async () => {
    await destinations('rotate-secret', 'crm')
    const { code, out, err } = await destinations('rotate-secret', 'crm')
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toMatch(/^hookline: destination crm: .*\(rotation_in_progress\)\n$/)
  })

  it('print a new write key, and keep the earlier ones', async () => {
    const { out, err } = await sources('rotate-key', 'app')
    expect(out).toMatch(/^[A-Za-z0-9_-]{43}\n$/)
    expect(err).toBe(
      'hookline: the new write key of source app is shown only once; the source still accepts 1 earlier key, so you can switch its senders to the new key one after the other\n',
    )
    expect((await sources('rotate-key', 'app', '--keep', '0')).err).toContain(
      '; this key is the only valid key of the source, so senders must use it now\n',
    )
  })
})

describe('rotate-secret and rotate-key whose output cannot be written', () => {
  const clientOf = (rotatesAt: string | undefined, keys: number): ObjectApiClient =>
    ({
      rotateSecret: async () => ({ secret: 'new', rotatesAt, version: 2 }),
      rotateKey: async () => ({ writeKey: 'new', keys, version: 2 }),
    }) as unknown as ObjectApiClient
  const failing = () => new Writable({ write: (_text, _encoding, done) => done(new Error('disk full')) })

  it.each([
    ['secret', rotateSecret, 'destination', undefined, 1, 'rotate the secret again with --overlap 0s'],
    [
      'secret',
      rotateSecret,
      'destination',
      '2026-01-02',
      1,
      'remove the new secret before 2026-01-02, when it replaces the old one .*, then rotate the secret again',
    ],
    ['write key', rotateKey, 'source', undefined, 2, 'rotate the write key again'],
    ['write key', rotateKey, 'source', undefined, 3, 'remove this key from the source .*'],
  ] as const)('fail, because the new %s is lost', async (what, rotate, kind, rotatesAt, keys, remedy) => {
    const client = clientOf(rotatesAt, keys)
    const stdout = failing().on('error', () => undefined)
    await expect(rotate({ io: { ...createTestIo(), stdout }, client, kind }, {}, 'crm')).rejects.toThrow(
      new RegExp(
        `^stdout could not be written: disk full; the new ${what} of ${kind} crm is .*, but could not be printed; ${remedy}$`,
      ),
    )
  })
})

describe('test', () => {
  it('shows the request and the response of each webhook', async () => {
    const { code, out, err } = await destinations('test', 'crm')
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toMatch(
      /^webhook 0: delivered \(status 204\) in \d+ ms\n {2}POST https:\/\/crm\.example\.com\/\*\*\*\n/,
    )
    expect(out).toMatch(/^ {2}X-Signature: [0-9a-f]{40}$/m)
    expect(out).toMatch(/^ {2}Authorization: \*\*\*$/m)
  })

  it('fails when no webhook accepts the message', async () => {
    status = 500
    const { code, out, err } = await destinations('test', 'crm', '--json')
    expect({ code, err }).toEqual({
      code: 1,
      err: 'hookline: no webhook of destination crm accepted the test message; see the outcome of each webhook above\n',
    })
    expect(JSON.parse(out)).toMatchObject({
      id: 'crm',
      delivered: false,
      responses: [{ outcome: 'http_5xx', status: 500 }],
    })
  })
})
