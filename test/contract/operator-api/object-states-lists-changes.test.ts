import { describe, expect, it } from '@jest/globals'
import { encodeRecord } from '../../../src/core/config-objects/object-record.ts'
import { objectRecord } from '../../support/config-objects/example-objects.ts'
import { configTopic } from '../../support/operator/memory-objects.ts'
import type { ObjectAnswer } from '../../support/operator/send-operator-api-request.ts'
import { ask, clock, codes, create, crm, served, serveObjectsForEach } from '../../support/operator/served-objects.ts'

serveObjectsForEach()

describe('pause, resume, enable, disable', () => {
  it('are idempotent', async () => {
    await create()
    const seen: unknown[] = []
    for (const to of ['resume', 'pause', 'pause', 'resume', 'enable', 'disable', 'disable', 'enable']) {
      const { status, body } = await ask(`POST /v1/destinations/crm/${to}`)
      seen.push([to, status, body.state, body.version])
    }
    expect(seen).toEqual([
      ...[
        ['resume', 200, 'enabled', 1],
        ['pause', 200, 'paused', 2],
        ['pause', 200, 'paused', 2],
      ],
      ...[
        ['resume', 200, 'enabled', 3],
        ['enable', 200, 'enabled', 3],
        ['disable', 200, 'disabled', 4],
      ],
      ...[
        ['disable', 200, 'disabled', 4],
        ['enable', 200, 'enabled', 5],
      ],
    ])
  })

  it('respond with 404 for a destination that does not exist', async () => {
    expect(codes(await ask('POST /v1/destinations/crm/pause'))).toEqual([404, 'not_found'])
  })

  it('respect If-Match', async () => {
    await create()
    expect(codes(await ask('POST /v1/destinations/crm/pause', undefined, { ifMatch: 3 }))).toEqual([
      412,
      'precondition_failed',
    ])
  })
})

describe('lists', () => {
  const idsOf = ({ body }: ObjectAnswer, kind = 'destinations') => body[kind].map(({ id }: { id: string }) => id)

  it('are pages in the order of the ids', async () => {
    for (const id of ['b', 'c', 'a']) await create(id)
    const first = await ask('GET /v1/destinations?limit=2')
    expect([idsOf(first), first.body.next]).toEqual([['a', 'b'], 'b'])
    const second = await ask('GET /v1/destinations?limit=2&after=b')
    expect([idsOf(second), second.body.next]).toEqual([['c', 'filed'], 'filed'])
    const last = await ask('GET /v1/destinations?limit=2&after=filed')
    expect([idsOf(last), 'next' in last.body]).toEqual([['waiting'], false])
    expect(idsOf(await ask('GET /v1/sources'), 'sources')).toEqual(['server', 'web'])
  })

  it.each([
    ['state=paused', ['waiting']],
    ['state=disabled', ['off']],
    ['state=enabled', ['crm', 'filed']],
    ['state=excluded', []],
    ['source=server', ['off', 'waiting']],
    ['q=CRM', ['crm', 'off']],
    ['q=T0KEN', []],
    ['q=wait&state=paused', ['waiting']],
  ])('with %s', async (query, expected) => {
    await create()
    await create('off', { ...crm, sources: ['server'], enabled: false })
    expect(idsOf(await ask(`GET /v1/destinations?${query}`))).toEqual(expected)
  })

  it.each([
    ['limit=0', 'limit'],
    ['limit=501', 'limit'],
    ['limit=x', 'limit'],
    ['state=on', 'state'],
    ['status=paused', 'status'],
    ['q=a&q=b', 'q'],
  ])('refuse %s', async (query, path) => {
    const refused = await ask(`GET /v1/destinations?${query}`)
    expect([...codes(refused), refused.body.problems[0].path]).toEqual([400, 'invalid_query', path])
  })
})

describe('GET /v1/changes', () => {
  it('lists who changed which fields, newest first', async () => {
    await create()
    await clock.advance(60_000)
    await ask('POST /v1/destinations/crm/pause')
    const all = await ask('GET /v1/changes', undefined, { as: 'read' })
    const common = { kind: 'destination', id: 'crm', by: 'ada', at: expect.stringMatching(/Z$/) }
    expect(all.body.changes).toEqual([
      { ...common, version: 2, action: 'updated', fields: ['paused'] },
      { ...common, version: 1, action: 'created', fields: ['id', 'sharedSecret', 'sources', 'webhooks'] },
    ])
    expect((await ask('GET /v1/changes?since=30s')).body.changes).toHaveLength(1)
    expect((await ask(`GET /v1/changes?since=${all.body.changes[1].at}`)).body.changes).toHaveLength(2)
    expect(codes(await ask('GET /v1/changes?since=yesterday'))).toEqual([400, 'invalid_query'])
    expect(all.body).not.toHaveProperty('partial')
  })

  it('lists the newest 1,000, and says that older ones are missing', async () => {
    for (let version = 1; version <= 1_001; version++) {
      const { key, value, headers } = encodeRecord(objectRecord({ version, action: 'updated', fields: ['paused'] }))
      served.memory.log.write(configTopic, value, String(key), headers)
    }
    served.memory.log.poll()
    const { partial, changes } = (await ask('GET /v1/changes')).body
    expect([partial, changes.length, changes[0].version]).toEqual([true, 1_000, 1_001])
  })
})

it('the audit log has one line for each change, without values', async () => {
  await create()
  await ask('POST /v1/destinations/crm/pause')
  await ask('POST /v1/destinations/crm/rotate-secret')
  await ask('PUT /v1/sources/app', { writeKey: 'a-write-key-of-app' })
  await ask('PATCH /v1/destinations/crm', { paused: null })
  await ask('GET /v1/destinations')
  const common = { key: 'ada', role: 'operate', requestId: expect.any(String) }
  expect(served.server.audited).toEqual([
    { ...common, action: 'put_destination', destination: 'crm', version: 1, fields: expect.any(Array), result: 'ok' },
    { ...common, action: 'pause_destination', destination: 'crm', version: 2, fields: ['paused'], result: 'ok' },
    { ...common, action: 'rotate_secret', destination: 'crm', version: 3, fields: expect.any(Array), result: 'ok' },
    { ...common, action: 'put_source', source: 'app', version: 1, fields: ['id', 'writeKey'], result: 'ok' },
    { ...common, action: 'patch_destination', destination: 'crm', result: 'precondition_required' },
  ])
  expect(JSON.stringify(served.server.audited)).not.toMatch(/a-shared|a-write|whsec/)
})

describe('access', () => {
  it.each([
    'PUT /v1/destinations/crm',
    'PATCH /v1/destinations/crm',
    'DELETE /v1/destinations/crm',
    'POST /v1/destinations/crm/pause',
    'POST /v1/destinations/crm/rotate-secret',
    'POST /v1/destinations/crm/test',
    'PUT /v1/sources/app',
    'DELETE /v1/sources/app',
    'POST /v1/sources/app/rotate-key',
  ])('%s needs the role operate', async line => {
    const [forbidden, unknown] = [
      await ask(line, undefined, { as: 'read' }),
      await ask(line, undefined, { as: 'nobody' }),
    ]
    expect([...codes(forbidden), forbidden.body.problems]).toEqual([403, 'forbidden', []])
    expect([...codes(unknown), unknown.body.problems]).toEqual([401, 'invalid_operator_key', []])
  })

  it.each([
    ['POST /v1/destinations', 'GET, HEAD, OPTIONS'],
    ['POST /v1/destinations/crm', 'DELETE, GET, HEAD, OPTIONS, PATCH, PUT'],
    ['GET /v1/destinations/crm/pause', 'OPTIONS, POST'],
    ['PUT /v1/status', 'GET, HEAD, OPTIONS'],
    ['GET /v1/sources/web/rotate-key', 'OPTIONS, POST'],
  ])('%s is answered with the methods of the path', async (line, allow) => {
    const refused = await ask(line)
    expect([refused.status, refused.body.code, refused.headers.get('allow')]).toEqual([
      405,
      'method_not_allowed',
      allow,
    ])
  })
})
