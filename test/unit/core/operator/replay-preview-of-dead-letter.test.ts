import { createHmac } from 'node:crypto'
import { expect, it } from '@jest/globals'
import { deadLetterRecord, truncatedDeadLetter } from '../../../../src/core/delivery/dead-letter-record.ts'
import { messageRequestsOf } from '../../../../src/core/delivery/requests-for-preview-or-test.ts'
import { createRouting } from '../../../../src/core/delivery/route.ts'
import { replayPreviewOf } from '../../../../src/core/operator/replay-preview-of-dead-letter.ts'
import { Secret } from '../../../../src/core/secret.ts'
import { topicNames } from '../../../../src/core/topics.ts'
import {
  carriedOf,
  defaultPayload,
  defaultPolicy,
  destinationOf,
  eventOf,
  messageOf,
  oauth2Of,
  recordOf,
  sourceOf,
  start,
  webhookOf,
} from '../../../support/builders.ts'

const payload = { ...defaultPayload, standardWebhooks: true }
const crm = destinationOf({
  secrets: [new Secret('shared-secret-of-crm')],
  webhooks: [{ ...webhookOf(0, { 'X-Key': new Secret('t0ken') }), label: 'main' }],
  auth: { oauth2: oauth2Of() },
})
const deadLetter = {
  ...recordOf({ topic: 'hookline.dead-letter' }),
  ...deadLetterRecord(recordOf(), carriedOf(), 'retries_exhausted'),
}
const preview = ({ record = deadLetter, event = eventOf(), destinations = [crm] }: Partial<Case> = {}) => {
  const routing = createRouting({ sources: ['web', 'app'].map(sourceOf), destinations })
  const context = { topics: topicNames('hookline'), routing, policy: defaultPolicy }
  return replayPreviewOf(record, event ?? undefined, { context, payload, now: start })
}
interface Case {
  readonly record: typeof deadLetter
  readonly event: ReturnType<typeof eventOf> | null
  readonly destinations: readonly ReturnType<typeof destinationOf>[]
}

it('has the request that the present configuration sends, without secrets and signatures', () => {
  const shown = preview()
  const { body, requests } = messageRequestsOf(crm, eventOf().message, { at: start, payload })
  const sent = requests[0]?.call.headers ?? {}
  expect(sent['X-Signature']).toBe(createHmac('sha1', 'shared-secret-of-crm').update(body).digest('hex'))
  expect(sent['webhook-signature']).toMatch(/^v1,/)
  expect(shown).toEqual({
    body,
    requests: [
      {
        ...{ webhook: 'main', url: 'https://hooks.example.com/***' },
        headers: {
          ...sent,
          ...{ 'X-Key': '***', Authorization: '***', 'X-Signature': '***', 'webhook-signature': '***' },
        },
      },
    ],
  })
})

it('says that the destination is paused', () => {
  expect(preview()).not.toHaveProperty('paused')
  expect(preview({ destinations: [{ ...crm, paused: true }] })).toMatchObject({ requests: [{}], paused: true })
})

it('normalises the event of another producer, with the message id of the delivery', () => {
  const message = { ...messageOf({ messageId: '', timestamp: undefined as never }), properties: '{ "a": 1 }' as never }
  const record = { ...deadLetter, ...deadLetterRecord(recordOf(), carriedOf({ messageId: 'derived' }), 'http_4xx') }
  expect(preview({ record, event: eventOf({ canonical: false, message }) })).toMatchObject({
    body: expect.stringContaining('"properties":{"a":1},"timestamp":"2026-11-21T08:00:00.000Z"'),
    requests: [{ headers: { 'X-Message-Id': 'derived' } }],
  })
})

const audience = { kind: 'audience', id: 'vip', version: 1 } as const
it.each<[string, Partial<Case>]>([
  ['unknown_destination', { destinations: [] }],
  ['disabled', { destinations: [{ ...crm, enabled: false }] }],
  ['not_connected', { destinations: [{ ...crm, sources: ['app'] }] }],
  ['truncated', { record: { ...deadLetter, ...truncatedDeadLetter(recordOf(), carriedOf(), 'http_4xx') } }],
  ['unreadable', { event: null }],
  ['unreadable', { event: eventOf({ canonical: false, message: messageOf({ userId: undefined }) }) }],
  ['excluded', { destinations: [{ ...crm, isPlaceholder: true, webhooks: [] }] }],
  ['audience_change', { event: eventOf({ destinationId: 'crm', origin: audience }) }],
  [
    'no_delivery',
    { record: { ...deadLetter, ...deadLetterRecord(recordOf(), undefined, 'unknown_source') }, event: eventOf() },
  ],
])('has no request, and says why: %s', (reason, given) => {
  expect(preview(given)).toEqual({ reason, message: expect.stringMatching(/\.$/) })
})
