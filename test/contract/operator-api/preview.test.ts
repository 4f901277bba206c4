import { expect, it } from '@jest/globals'
import { ask, codes, create, crm, served, serveObjectsForEach } from '../../support/operator/served-objects.ts'

serveObjectsForEach()
const message = {
  type: 'track',
  messageId: 'm-1',
  userId: 'u-1',
  event: 'Order Viewed',
  timestamp: '2026-03-01T10:00:00Z',
}
const preview = (given: object = { message }, as: 'read' | 'operate' = 'operate') =>
  ask('POST /v1/destinations/crm/preview', given, { as })

it('shows the requests without secrets and signatures, sends nothing, and is in the audit log', async () => {
  await create('crm', { ...crm, paused: true, policy: { standardWebhooks: true } })
  const { status, body } = await preview()
  expect(status).toBe(200)
  expect(body).toEqual({
    requests: [
      {
        ...{ webhook: 'main', url: 'https://crm.example.com/***' },
        headers: expect.objectContaining({
          ...{ Authorization: '***', 'X-Message-Id': 'm-1', 'X-Signature': '***' },
          ...{ 'webhook-id': 'm-1', 'webhook-signature': '***' },
        }),
      },
    ],
    body: '{"version":1,"type":"track","userId":"u-1","event":"Order Viewed","properties":{},"timestamp":"2026-03-01T10:00:00.000Z"}',
    paused: true,
  })
  expect(JSON.stringify(body)).not.toMatch(/T0KEN|c0nfidential|a-shared-secret/)
  const line = served.server.audited.at(-1)
  expect(line).toMatchObject({ action: 'preview_destination', destination: 'crm', result: 'ok' })
  expect(JSON.stringify(line)).not.toMatch(/u-1|Order/)
})

it.each<[string, object, object, RegExp]>([
  [
    'filtered',
    { filter: { events: { exclude: ['Order *'] } } },
    {},
    /^The rule filter\.events\.exclude\[0\] = "Order \*" of/,
  ],
  ['disabled', { enabled: false }, {}, /its key 'enabled' is false\.$/],
  ['not_selected', {}, { message: { ...message, integrations: { All: false } } }, /'integrations'/],
  ['no_destination', {}, { source: 'server' }, /not connected to source 'server'\.$/],
  ['unknown_source', {}, { source: 'nowhere' }, /'nowhere' does not exist: use/],
])('says why the destination would not get the message: %s', async (reason, settings, given, text) => {
  await create('crm', { ...crm, ...settings })
  const { status, body } = await preview({ message, ...given })
  expect([status, body]).toEqual([200, { reason, message: expect.stringMatching(text) }])
})

it.each<[string, object, object, string]>([
  ['without a message', crm, {}, 'message'],
  ['with an invalid message', crm, { message: { type: 'track' } }, 'message'],
  ['without one of several sources', { ...crm, sources: ['web', 'server'] }, { message }, 'source'],
  ['with an unknown field', crm, { message, destination: 'crm' }, 'destination'],
])('refuses a body %s', async (_, document, given, path) => {
  await create('crm', document)
  const answer = await preview(given)
  expect([...codes(answer), answer.body.problems[0]?.path]).toEqual([400, 'invalid_body', path])
})

it('needs a destination and the role operate', async () => {
  expect(codes(await preview())).toEqual([404, 'not_found'])
  await create()
  expect(codes(await preview({ message }, 'read'))).toEqual([403, 'forbidden'])
})
