import { gzipSync } from 'node:zlib'
import { describe, expect, it } from '@jest/globals'
import { type ExpectedAnswer, problem, raw } from '../../support/collector/raw-request-harness.ts'
import { ManualClock } from '../../support/manual-clock.ts'
import { basic, chunked, post, request } from '../../support/network/http-request-bytes.ts'
import { connect } from '../../support/network/raw-http-client.ts'
import { ask, asOperator, noKey, type OperatorCase, operatorCases } from '../../support/operator/raw-request-harness.ts'
import { ScriptedOperatorApi } from '../../support/operator/scripted-deletion-and-audience-api.ts'
import { startOperator } from '../../support/operator/server.ts'

const body = '{"userIds":["ada"]}'
const accepted: ExpectedAnswer = { status: 202, body: '{"id":"d-1","status":"running"}' }
const found: ExpectedAnswer = {
  status: 200,
  body: '{"id":"d-1","status":"finished","createdAt":"2026-03-01T00:00:00.000Z","sources":[]}',
}
const synced = (received: number): ExpectedAnswer => ({ status: 202, body: `{"syncId":7,"received":${received}}` })
const post1 = 'POST /v1/regulations'
const sync = 'POST /v1/audiences/Shoppers/syncs'
const routes = [post1, 'GET /v1/regulations/d-1', sync]

describe('the key', () => {
  operatorCases([
    ...routes.flatMap((line): OperatorCase[] => [
      raw(`${line} without one`, request(line), noKey),
      raw(`${line} with another one`, request(line, { Authorization: 'Bearer kept-secret-operator-keys' }), noKey),
    ]),
  ])
  operatorCases([
    raw('as a write key', request(post1, { Authorization: basic('kept-secret-operator-key') }, body), noKey),
    raw('in the write key’s header', request(post1, { 'X-Write-Key': 'kept-secret-operator-key' }, body), noKey),
    raw('in the query', request(`${post1}?writeKey=kept-secret-operator-key`, {}, body), noKey),
    raw('an empty key', request(post1, { Authorization: 'Bearer ' }, body), noKey),
    raw('a part of the key', request(post1, { Authorization: 'Bearer operator' }, body), noKey),
    raw(
      'two words',
      request(post1, { Authorization: 'Bearer kept-secret-operator-key kept-secret-operator-key' }, body),
      noKey,
    ),
    {
      ...raw(
        'the scheme in any case',
        request(post1, { Authorization: 'bEARER   kept-secret-operator-key ' }, body),
        accepted,
      ),
      asked: [`delete ${body}`],
    },
    raw('no 100 Continue before the key is checked', request(sync, { Expect: '100-continue', 'Content-Length': '9' }), {
      ...noKey,
      close: true,
    }),
    raw('a path that does not exist is answered 404', ask('GET /v1/regulations/d-1/x'), problem(404, 'not_found')),
  ])
})

describe('deletions', () => {
  operatorCases(
    [
      { ...raw('are accepted', ask(post1, body), accepted), asked: [`delete ${body}`] },
      {
        ...raw('with a slash at the end', ask('POST /v1/regulations/', body), accepted),
        asked: [`delete ${body}`],
      },
      ...Object.entries({
        'in gzip': ask(post1, gzipSync(body), { 'Content-Encoding': 'gzip' }),
        'in chunks that split tokens': [
          ask(post1, '', { 'Transfer-Encoding': 'chunked' }),
          chunked(body.slice(0, 4), body.slice(4, 14), body.slice(14)),
        ],
      }).map(([name, bytes]) => ({ ...raw(name, bytes, accepted), asked: [`delete ${body}`] })),
      {
        ...raw(
          'after 100 Continue',
          [ask(post1, '', { Expect: '100-continue', 'Content-Length': String(body.length) }), body],
          accepted,
          { interim: [100] },
        ),
        asked: [`delete ${body}`],
      },
      raw('are JSON', ask(post1, '{"userIds":'), problem(400, 'invalid_json')),
      raw('need a body', ask(post1), problem(400, 'invalid_json')),
      raw('have a bounded size', ask(post1, 'x'.repeat(2_000)), problem(413, 'payload_too_large')),
      raw(
        'are requested by POST',
        ask('GET /v1/regulations'),
        problem(405, 'method_not_allowed', { headers: { allow: 'OPTIONS, POST' } }),
      ),
      raw('answer OPTIONS', ask('OPTIONS /v1/regulations'), { status: 204, headers: { allow: 'OPTIONS, POST' } }),
      { ...raw('can be queried', ask('GET /v1/regulations/d-1'), found), asked: ['find d-1'] },
      {
        ...raw('can be queried by HEAD', ask('HEAD /v1/regulations/d-1'), { status: 200, body: '', method: 'HEAD' }),
        asked: ['find d-1'],
      },
      {
        ...raw('of an unknown id are not found', ask('GET /v1/regulations/d%202'), problem(404, 'not_found')),
        asked: ['find d 2'],
      },
      raw(
        'cannot be deleted',
        ask('DELETE /v1/regulations/d-1'),
        problem(405, 'method_not_allowed', { headers: { allow: 'GET, HEAD, OPTIONS' } }),
      ),
    ],
    { maxBodyBytes: 1_000 },
  )
})

describe('syncs', () => {
  const shoppers = 'sync Shoppers full'
  operatorCases([
    { ...raw('are accepted', ask(sync, 'ada\nbob\n'), synced(2)), asked: [shoppers], lines: ['ada', 'bob'] },
    {
      ...raw(
        'of an audience whose name has spaces',
        ask('POST /v1/audiences/First%20time%20shopper/syncs', 'ada'),
        synced(1),
      ),
      asked: ['sync First time shopper full'],
      lines: ['ada'],
    },
    {
      ...raw('of an audience whose name has a slash', ask('POST /v1/audiences/a%2Fb/syncs', 'ada'), synced(1)),
      asked: ['sync a/b full'],
      lines: ['ada'],
    },
    {
      ...raw('partial', ask(`${sync}?mode=partial`, 'ada'), synced(1)),
      asked: ['sync Shoppers partial'],
      lines: ['ada'],
    },
    ...['application/x-www-form-urlencoded', 'Multipart/form-data; boundary=x'].map(type =>
      raw(`as a form are refused: ${type}`, ask(sync, 'ada', { 'Content-Type': type }), problem(400, 'invalid_body')),
    ),
    {
      ...raw('of an empty list, with allowEmpty', ask(`${sync}?mode=full&allowEmpty=true`), synced(0)),
      asked: ['sync Shoppers full allowEmpty'],
    },
    { ...raw('in gzip', ask(sync, gzipSync('ada\nbob')), synced(2)), asked: [shoppers], lines: ['ada', 'bob'] },
    {
      ...raw(
        'in chunks that split lines',
        [ask(sync, '', { 'Transfer-Encoding': 'chunked' }), chunked('a', 'da\nb', 'ob')],
        synced(2),
      ),
      asked: [shoppers],
      lines: ['ada', 'bob'],
    },
    {
      ...raw(
        'after 100 Continue',
        [ask(sync, '', { Expect: '100-continue', 'Content-Length': '3' }), 'ada'],
        synced(1),
        { interim: [100] },
      ),
      asked: [shoppers],
      lines: ['ada'],
    },
    {
      ...raw('of any size', ask(sync, 'ada\n'.repeat(50_000)), synced(50_000)),
      asked: [shoppers],
      lines: Array<string>(50_000).fill('ada'),
    },
    {
      ...raw('one after the other', [ask(sync, 'ada'), ask(sync, 'bob')], [synced(1), synced(2)]),
      asked: [shoppers, shoppers],
      lines: ['ada', 'bob'],
    },
    raw(
      'of an unknown audience',
      post('/v1/audiences/Nobody/syncs', asOperator, 'ada'),
      problem(404, 'unknown_audience'),
    ),
    raw(
      'of an unknown audience, before the list is sent',
      ask('POST /v1/audiences/Nobody/syncs', '', { Expect: '100-continue', 'Content-Length': '9' }),
      problem(404, 'unknown_audience', { close: true }),
    ),
    ...['?mode=all', '?mode=', '?mod=partial', '?mode=full&mode=partial', '?allowEmpty=1', '?mode=full&x'].map(query =>
      raw(`with ${query}`, ask(sync + query, 'ada'), problem(400, 'invalid_body')),
    ),
    raw(
      'are sent by POST',
      ask('PUT /v1/audiences/Shoppers/syncs'),
      problem(405, 'method_not_allowed', { headers: { allow: 'OPTIONS, POST' } }),
    ),
  ])
})

it('an old connection closes with a response', async () => {
  const clock = new ManualClock()
  const operator = await startOperator(new ScriptedOperatorApi(), { clock })
  const wire = await connect(operator.url)
  for (const [minutes, connection] of [
    [0, 'keep-alive'],
    [11, 'close'],
  ] as const) {
    await clock.advance(minutes * 60_000)
    await wire.send(ask('GET /v1/regulations/d-1'))
    expect((await wire.answer()).headers).toMatchObject({ connection })
  }
  expect(await wire.closed).toBe('end')
  const stopped = operator.stop()
  await clock.advance(1_000)
  await stopped
})
