import type { Event } from '../../src/core/message/event.ts'
import { type Message, type MessageType, messageTypes } from '../../src/core/message/message.ts'
import { normalise } from '../../src/core/message/normalise.ts'
import { epochMs } from '../../src/core/units.ts'

/** How many of each type are sent. */
export const messagesOfEachType = 50
export const messageCount = messagesOfEachType * messageTypes.length
/** Waits before the 2nd, 3rd and 4th attempt: short, so that the demo ends within a minute. Nothing else differs from a real installation. */
export const schedule = ['1s', '2s', '4s']

/** What a destination's endpoint does, and what must become of every message. */
export interface DemoDestination {
  readonly id: string
  readonly shows: string
  readonly secret: string
  readonly endpoints: readonly ('ok' | 'not-found' | 'fails-twice' | 'nobody-listens' | 'self-signed')[]
  readonly expect: {
    readonly delivered: number
    readonly retried: number
    readonly deadLettered: number
    readonly reason: string
  }
}

const n = messageCount

export const destinations: readonly DemoDestination[] = [
  {
    id: 'crm',
    shows: 'a healthy endpoint',
    secret: 'crm-secret',
    endpoints: ['ok'],
    expect: { delivered: n, retried: 0, deadLettered: 0, reason: '' },
  },
  {
    id: 'warehouse',
    shows: 'two webhooks, one answers 404: any success counts',
    secret: 'warehouse-secret',
    endpoints: ['not-found', 'ok'],
    expect: { delivered: n, retried: 0, deadLettered: 0, reason: '' },
  },
  {
    id: 'flaky',
    shows: 'fails twice with 503, then works',
    secret: 'flaky-secret',
    endpoints: ['fails-twice'],
    expect: { delivered: n, retried: 2 * n, deadLettered: 0, reason: '' },
  },
  {
    id: 'dead',
    shows: 'nobody listens',
    secret: 'dead-secret',
    endpoints: ['nobody-listens'],
    expect: { delivered: 0, retried: schedule.length * n, deadLettered: n, reason: 'retries_exhausted' },
  },
  {
    id: 'self-signed',
    shows: 'HTTPS with a self-signed certificate: nothing is sent',
    secret: 'self-signed-secret',
    endpoints: ['self-signed'],
    expect: { delivered: 0, retried: 0, deadLettered: n, reason: 'tls_untrusted' },
  },
]

const bodies: Record<MessageType, (index: number) => object> = {
  identify: index => ({
    traits: { email: `user${index}@example.com`, 'First Name': 'Ada', plan: 'pro', logins: index },
  }),
  track: index => ({
    event: 'Order Completed',
    properties: { orderId: `o-${index}`, total: 12.5, products: [{ sku: 'a' }] },
  }),
  page: index => ({
    name: 'Pricing',
    properties: { path: '/pricing', title: 'Pricing', url: `https://example.com/pricing?${index}` },
  }),
  screen: () => ({
    name: 'Home',
    context: { os: { name: 'iOS', version: '19.1' }, app: { name: 'Shop', version: '4.2.0' } },
  }),
  group: index => ({ groupId: `company-${index % 7}`, traits: { name: 'Initech', employees: 329 } }),
  alias: index => ({ previousId: `anonymous-${index}` }),
  delete: () => ({}),
}

/** Every message of the demo as an event of the source `web`. */
export function demoEvents(type: MessageType, now: number): readonly Event[] {
  return Array.from({ length: messagesOfEachType }, (_, index) => ({
    sourceId: 'web',
    destinationId: undefined,
    receivedAt: epochMs(now),
    canonical: true,
    origin: type === 'delete' ? { kind: 'deletion', id: 'demo-request', version: undefined } : undefined,
    message: demoMessage(type, index, now),
  }))
}

function demoMessage(type: MessageType, index: number, now: number): Message {
  const messageId = `demo-${type}-${String(index).padStart(3, '0')}`
  const userId = `user-${index % 20}`
  // Deletion requests make delete messages themselves: an SDK cannot send one, so that `normalise` does not take it.
  const sent = {
    ...bodies[type](index),
    type: type === 'delete' ? 'alias' : type,
    messageId,
    userId,
    previousId: `anonymous-${index}`,
  }
  const normalised = normalise(sent, { receivedAt: epochMs(now), sentAt: undefined, newId: () => messageId })
  if (normalised.kind === 'rejected') throw new Error(`the demo sends a bad message: ${normalised.message}`)
  return type === 'delete' ? { ...normalised.message, type, previousId: undefined } : normalised.message
}

/** The configuration file, given where each destination's endpoints listen. */
export function demoConfiguration(place: {
  brokers: readonly string[]
  registry: string
  prefix: string
  urls: ReadonlyMap<string, readonly string[]>
}): object {
  return {
    kafka: { brokers: place.brokers },
    topics: { prefix: place.prefix, partitions: 6, replicationFactor: 1 },
    registry: { url: place.registry },
    ops: { listen: '127.0.0.1:0' },
    network: { allow: ['127.0.0.0/8'] },
    delivery: { schedule },
    sources: [{ id: 'web', writeKey: 'demo-web-key' }],
    destinations: destinations.map(({ id, secret }) => ({
      id,
      sources: ['web'],
      sharedSecret: secret,
      webhooks: (place.urls.get(id) ?? []).map(url => ({ url })),
    })),
  }
}
