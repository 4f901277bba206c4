import { type DeliveryState, initialState } from '../../src/core/delivery/delivery-state.ts'
import type { RetryPolicy } from '../../src/core/delivery/retry-tier.ts'
import type { Event } from '../../src/core/message/event.ts'
import type { Message } from '../../src/core/message/message.ts'
import type { LogRecord } from '../../src/core/ports.ts'
import { Secret } from '../../src/core/secret.ts'
import type { DeliveryRules } from '../../src/core/settings/effective-policy.ts'
import type { Destination, OAuth2Settings, PayloadSettings, Source, Webhook } from '../../src/core/settings/settings.ts'
import { type DurationMs, epochMs, parseDuration } from '../../src/core/time.ts'
import { tiersOf } from '../../src/core/topics.ts'

/* Builders of settings and messages. A test sets only the fields that matter to it. */

export const start = epochMs(Date.parse('2026-11-21T08:00:00.000Z'))

export const duration = (text: string): DurationMs => {
  const parsed = parseDuration(text)
  if (parsed === undefined) throw new TypeError(`no duration: ${text}`)
  return parsed
}
export const durations = (text: string): readonly DurationMs[] => text.split(' ').filter(Boolean).map(duration)

export const defaultSchedule = durations('10s 30s 1m 5m 15m 30m 1h 1h 1h')

export const policyOf = (schedule: readonly DurationMs[], window = duration('4h')): RetryPolicy => ({
  schedule,
  window,
  tiers: tiersOf(schedule),
})
export const defaultPolicy = policyOf(defaultSchedule)

/** Defaults that the policy of a destination can override. */
export const defaultDelivery: DeliveryRules = {
  timeout: duration('5s'),
  schedule: defaultSchedule,
  window: duration('4h'),
  ordering: 'key',
}

export const webhookOf = (index: number, headers: Webhook['headers'] = {}): Webhook => ({
  label: String(index),
  url: `https://hooks.example.com/${index}`,
  urlHash: `${index}`.repeat(8).slice(0, 8),
  headers,
  traceHeaders: false,
})

export const destinationOf = (given: Partial<Destination> = {}): Destination => ({
  id: 'crm',
  enabled: true,
  paused: false,
  sources: ['web'],
  secrets: [],
  webhooks: [webhookOf(0)],
  ...given,
})

export const oauth2Of = (given: Partial<OAuth2Settings> = {}): OAuth2Settings => ({
  tokenUrl: 'https://login.example.com/token',
  clientId: 'hookline',
  clientSecret: new Secret('client-secret-of-crm'),
  clientAuthentication: 'basic',
  scopes: [],
  ...given,
})

export const sourceOf = (id: string): Source => ({ id, writeKeys: [new Secret(`key of ${id}`)] })

export const messageOf = (given: Partial<Message> = {}): Message => ({
  type: 'track',
  messageId: 'message-1',
  userId: 'u1',
  anonymousId: undefined,
  groupId: undefined,
  previousId: undefined,
  event: 'Opened',
  name: undefined,
  category: undefined,
  timestamp: start,
  properties: undefined,
  traits: undefined,
  context: undefined,
  integrations: undefined,
  ...given,
})

export const eventOf = (given: Partial<Event> = {}): Event => ({
  sourceId: 'web',
  destinationId: undefined,
  receivedAt: start,
  canonical: true,
  origin: undefined,
  message: messageOf(),
  ...given,
})

export const defaultPayload: PayloadSettings = {
  userAgent: 'Hookline',
  messageIdHeader: true,
  anonymousId: 'fallback',
  standardWebhooks: false,
}

export const recordOf = (given: Partial<LogRecord> = {}): LogRecord => ({
  topic: 'hookline.events',
  partition: 3,
  offset: 41,
  timestamp: start,
  key: Buffer.from('u1'),
  value: Buffer.from([0, 1, 2, 255]),
  headers: {},
  ...given,
})

export const carriedOf = (given: Partial<DeliveryState> = {}): DeliveryState => ({
  ...initialState(recordOf(), 'crm', 'message-1', start, duration('4h')),
  ...given,
})

export const later = (text: string, from: number = start) => epochMs(from + duration(text))
