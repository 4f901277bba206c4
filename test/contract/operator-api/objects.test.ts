import { describe, expect, it } from '@jest/globals'
import type { askObjects, ObjectAnswer } from '../../support/operator/send-operator-api-request.ts'
import {
  ask,
  codes,
  create,
  crm,
  secretOfCrm,
  served,
  serveObjectsForEach,
  start,
} from '../../support/operator/served-objects.ts'

serveObjectsForEach()

describe('PUT', () => {
  it('creates an object, masks its secrets, and answers the version', async () => {
    const created = await create()
    expect([created.status, created.etag]).toEqual([201, '"1"'])
    expect(created.body).toMatchObject({
      ...{
        id: 'crm',
        kind: 'destination',
        origin: 'api',
        version: 1,
        state: 'enabled',
        changedBy: 'ada',
        problems: [],
      },
      document: {
        id: 'crm',
        sharedSecret: '***',
        webhooks: [{ id: 'main', url: 'https://crm.example.com/***', headers: { Authorization: '***' } }],
      },
      changedFields: ['id', 'sharedSecret', 'sources', 'webhooks'],
    })
    expect(Object.keys(created.body.fingerprints)).toContain('sharedSecret')
    const found = await ask('GET /v1/destinations/crm', undefined, { as: 'read' })
    expect([found.status, found.etag]).toEqual([200, '"1"'])
    expect(JSON.stringify(found.body)).not.toMatch(/T0KEN|c0nfidential|a-shared-secret/)
  })

  it('replaces the version that the client has read, and keeps masked secrets', async () => {
    const { body } = await create()
    const replaced = await ask('PUT /v1/destinations/crm', { ...body.document, paused: true }, { ifMatch: 1 })
    expect([replaced.status, replaced.etag, replaced.body.state]).toEqual([200, '"2"', 'paused'])
    expect(replaced.body.changedFields).toEqual(['paused'])
    expect(
      served.memory
        .merged()
        .settings.destinations.find(({ id }) => id === 'crm')
        ?.secrets[0]?.reveal(),
    ).toBe(secretOfCrm)
  })

  it('writes no version when nothing changes', async () => {
    const { body } = await create()
    const again = await ask('PUT /v1/destinations/crm', body.document, { ifMatch: 1 })
    expect([again.status, again.etag, again.body.changedFields]).toEqual([200, '"1"', []])
  })

  it('creates without a precondition, but never overwrites without one', async () => {
    expect((await ask('PUT /v1/destinations/crm', crm)).status).toBe(201)
    const refused = await ask('PUT /v1/destinations/crm', { ...crm, paused: true })
    expect([...codes(refused), refused.etag]).toEqual([428, 'precondition_required', '"1"'])
    expect((await ask('GET /v1/destinations/crm')).body.version).toBe(1)
  })

  it.each<[string, Parameters<typeof askObjects>[3], number, string]>([
    ['another version', { ifMatch: 7 }, 412, 'precondition_failed'],
    ['absence', { ifNoneMatch: '*' }, 412, 'precondition_failed'],
    ['a version that is no ETag', { ifMatch: '1' }, 400, 'invalid_precondition'],
    ['a weak ETag', { ifMatch: 'W/"1"' }, 400, 'invalid_precondition'],
    ['two versions', { ifMatch: '"1", "2"' }, 400, 'invalid_precondition'],
    ['absence of one version', { ifNoneMatch: '"1"' }, 400, 'invalid_precondition'],
    ['both headers', { ifMatch: 1, ifNoneMatch: '*' }, 400, 'invalid_precondition'],
  ])('changes nothing for %s', async (_, given, status, code) => {
    await create()
    expect(codes(await ask('PUT /v1/destinations/crm', { ...crm, paused: true }, given))).toEqual([status, code])
    expect((await ask('GET /v1/destinations/crm')).body).toMatchObject({ version: 1, state: 'enabled' })
  })

  it('If-Match: * changes any version, but creates nothing', async () => {
    expect(codes(await ask('PUT /v1/destinations/crm', crm, { ifMatch: '*' }))).toEqual([412, 'precondition_failed'])
    await create()
    expect((await ask('PUT /v1/destinations/crm', { ...crm, paused: true }, { ifMatch: '*' })).etag).toBe('"2"')
  })

  it('lists all problems of a document, and changes nothing', async () => {
    const document = { sources: ['wbe'], webhooks: [{ url: 'ftp://x' }, { url: 'https://a.example', hedaers: {} }] }
    const refused = await create('crm', document)
    expect(codes(refused)).toEqual([422, 'invalid_object'])
    const paths = refused.body.problems.map(({ path }: { path: string }) => path)
    expect(paths).toEqual(expect.arrayContaining(['webhooks[0].url', 'sources[0]'].slice(0, 1)))
    for (const problem of refused.body.problems)
      expect(problem).toEqual({
        path: expect.any(String),
        message: expect.stringMatching(/./),
        hint: expect.stringMatching(/./),
      })
    expect(codes(await ask('GET /v1/destinations/crm'))).toEqual([404, 'not_found'])
  })

  it('refuses an id that is not the one in the path', async () => {
    const refused = await create('crm', { ...crm, id: 'erp' })
    expect([...codes(refused), refused.body.problems[0].path]).toEqual([422, 'invalid_object', 'id'])
  })

  it.each<[string, string, number, string, string]>([
    ['no JSON', '{', 400, 'invalid_json', ''],
    ['an empty body', '', 400, 'invalid_json', ''],
    ['no object', '[]', 400, 'invalid_body', ''],
    ['a key twice', '{"sources":["web"],"sources":["server"]}', 400, 'invalid_json', 'sources'],
    ['a key twice within', '{"webhooks":[{},{"url":"a","\\u0075rl":"b"}]}', 400, 'invalid_json', 'webhooks[1].url'],
    ['__proto__', '{"policy":{"__proto__":{}}}', 400, 'invalid_json', 'policy.__proto__'],
    ['half of a surrogate pair', '{"sharedSecret":"\\ud800"}', 400, 'invalid_json', 'sharedSecret'],
  ])('%s is refused', async (_, body, status, code, path) => {
    const refused = await ask('PUT /v1/destinations/crm', body)
    expect([...codes(refused), refused.body.problems[0].path]).toEqual([status, code, path])
  })

  it('refuses a body that is nested too deeply', async () => {
    const refused = await ask('PUT /v1/destinations/crm', `{"a":${'['.repeat(200)}${']'.repeat(200)}}`)
    expect([...codes(refused), refused.body.problems[0].message]).toEqual([
      ...[400, 'invalid_json', 'is nested more than 100 levels deep'],
    ])
  })

  it('refuses a body above the limit of the listener', async () => {
    const refused = await ask('PUT /v1/destinations/crm', JSON.stringify({ a: 'x'.repeat(1_100_000) }))
    expect([...codes(refused), refused.body.problems]).toEqual([413, 'payload_too_large', []])
  })
})

describe('PATCH', () => {
  it('merges a JSON Merge Patch', async () => {
    await create('crm', { ...crm, policy: { standardWebhooks: true } })
    const patch = { paused: true, policy: { standardWebhooks: null }, sharedSecret: null }
    const patched = await ask('PATCH /v1/destinations/crm', patch, { ifMatch: 1 })
    expect([patched.status, patched.etag]).toEqual([200, '"2"'])
    expect(patched.body.document).toMatchObject({ id: 'crm', paused: true, policy: {}, webhooks: [{ id: 'main' }] })
    expect(patched.body.document).not.toHaveProperty('sharedSecret')
  })

  it.each<[string, unknown, Parameters<typeof askObjects>[3], number, string]>([
    ['without a precondition', { paused: true }, {}, 428, 'precondition_required'],
    ['of another version', { paused: true }, { ifMatch: 2 }, 412, 'precondition_failed'],
    ['with an invalid result', { sources: null }, { ifMatch: 1 }, 422, 'invalid_object'],
    ['of the id', { id: 'erp' }, { ifMatch: 1 }, 422, 'invalid_object'],
    ['that removes the id', { id: null }, { ifMatch: 1 }, 422, 'invalid_object'],
  ])('%s changes nothing', async (_, patch, given, status, code) => {
    const { body } = await create()
    expect(codes(await ask('PATCH /v1/destinations/crm', patch, given))).toEqual([status, code])
    expect((await ask('GET /v1/destinations/crm')).body.document).toEqual(body.document)
  })

  it('does not send a client secret that nobody wrote again to another host', async () => {
    const oauth2 = { tokenUrl: 'https://login.example.com/token', clientId: 'hookline', clientSecret: 'confidential' }
    await create('erp', { sources: ['web'], auth: { oauth2 }, webhooks: [{ url: 'https://erp.example.com/hooks' }] })
    const patch = (changes: object): Promise<ObjectAnswer> =>
      ask('PATCH /v1/destinations/erp', changes, { ifMatch: '*' })
    const elsewhere = { auth: { oauth2: { tokenUrl: 'https://other.example.com/token' } } }
    for (const changes of [elsewhere, { webhooks: [{ url: 'https://other.example.com/' }] }]) {
      const { status, body } = await patch(changes)
      expect({ status, body }).toMatchObject({
        status: 422,
        body: { problems: [{ path: 'auth.oauth2.clientSecret' }] },
      })
    }
    expect((await patch({ paused: true, auth: { oauth2: { scopes: ['events'] } } })).status).toBe(200)
    elsewhere.auth.oauth2 = { ...elsewhere.auth.oauth2, ...{ clientSecret: 'confidential' } }
    expect((await patch(elsewhere)).status).toBe(200)
  })

  it('that shortens a list keeps a secret by its fingerprint, and is refused without it', async () => {
    await ask('PUT /v1/sources/app', { writeKey: ['leaked-key-of-the-app', 'second-key-of-the-app'] })
    const { body } = await ask('GET /v1/sources/app')
    const patch = (writeKey: unknown): Promise<ObjectAnswer> =>
      ask('PATCH /v1/sources/app', { writeKey }, { ifMatch: 1 })
    const refused = await patch(['***'])
    const second = `*** (${body.fingerprints['writeKey[1]']})`
    expect([...codes(refused), refused.body.problems]).toEqual([
      ...[422, 'invalid_object'],
      [expect.objectContaining({ path: 'writeKey[0]', hint: expect.stringContaining(second) })],
    ])
    expect((await patch([second])).body.changedFields).toEqual(['writeKey'])
    const { settings } = served.memory.merged()
    const keys = settings.sources.find(({ id }) => id === 'app')?.writeKeys
    expect(keys?.map(key => key.reveal())).toEqual(['second-key-of-the-app'])
  })

  it('of an object that does not exist is 404', async () => {
    for (const given of [{}, { ifMatch: 1 }, { ifMatch: '*' }])
      expect(codes(await ask('PATCH /v1/destinations/crm', { paused: true }, given))).toEqual([404, 'not_found'])
  })
})

describe('DELETE', () => {
  it('deletes one version, and the next object continues the versions', async () => {
    await create()
    expect(codes(await ask('DELETE /v1/destinations/crm'))).toEqual([428, 'precondition_required'])
    expect(codes(await ask('DELETE /v1/destinations/crm', undefined, { ifMatch: 2 }))).toEqual([
      412,
      'precondition_failed',
    ])
    expect((await ask('DELETE /v1/destinations/crm', undefined, { ifMatch: 1 })).status).toBe(204)
    expect(codes(await ask('DELETE /v1/destinations/crm', undefined, { ifMatch: 1 }))).toEqual([404, 'not_found'])
    expect((await create()).body.version).toBeGreaterThan(1)
  })

  it('is refused while another object uses the source', async () => {
    await ask('PUT /v1/sources/app', { writeKey: 'a-write-key-of-app' })
    await create('crm', { ...crm, sources: ['app'] })
    const refused = await ask('DELETE /v1/sources/app', undefined, { ifMatch: '*' })
    expect(codes(refused)).toEqual([409, 'in_use'])
    expect(refused.body.problems[0].message).toContain('crm')
  })
})

describe('objects of the configuration file', () => {
  it('are shown with the origin file', async () => {
    const { body, etag } = await ask('GET /v1/destinations/filed')
    expect(body).toMatchObject({ id: 'filed', origin: 'file', version: 0, state: 'enabled' })
    expect(etag).toBe('"0"')
  })

  it.each([
    ['PUT /v1/destinations/filed', crm],
    ['PATCH /v1/destinations/filed', { paused: true }],
    ['DELETE /v1/destinations/filed', undefined],
    ['POST /v1/destinations/filed/pause', undefined],
    ['POST /v1/destinations/filed/rotate-secret', undefined],
    ['PUT /v1/sources/web', { writeKey: 'another-write-key' }],
    ['POST /v1/sources/web/rotate-key', undefined],
  ])('%s is refused with 409', async (line, body) => {
    for (const given of [{}, { ifMatch: 0 }, { ifMatch: '*' }])
      expect(codes(await ask(line, body, given))).toEqual([409, 'defined_in_file'])
  })
})

it('without an encryption key, objects are shown but cannot change', async () => {
  await start({ hasKey: false })
  expect((await ask('GET /v1/destinations')).body.destinations).toHaveLength(2)
  expect(codes(await create())).toEqual([409, 'encryption_key_missing'])
})

it('answers 503 when Kafka does not confirm the change', async () => {
  served.memory.log.unwritable.add('hookline.config')
  const refused = await create()
  expect([...codes(refused), refused.headers.get('retry-after')]).toEqual([503, 'unavailable', '5'])
})
