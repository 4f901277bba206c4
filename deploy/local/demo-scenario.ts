import type { Event } from '../../src/core/message/event.ts'
import { type Message, type MessageType, messageTypes } from '../../src/core/message/message.ts'
import { normalise } from '../../src/core/message/normalise.ts'
import { epochMs } from '../../src/core/units.ts'

/** Many of each type, from a source whose destinations show every way in which a delivery can end at once. */
const webMessagesOfEachType = 50
/** A few from a second one: what fails twice does so for most of a few attempts, which does not open its breaker. */
const appTypes: readonly MessageType[] = ['identify', 'track', 'page', 'screen']

/** Waits before the 2nd, 3rd and 4th attempt, and the window: short, so that the demo ends within a minute or so. Nothing else differs from a real installation. */
export const delivery = { schedule: ['1s', '2s', '4s'], window: '30s' }

export interface DemoSource {
  readonly id: string
  readonly messages: number
}

const web: DemoSource = { id: 'web', messages: webMessagesOfEachType * messageTypes.length }
const app: DemoSource = { id: 'app', messages: appTypes.length }

/** What a destination's endpoint does, and what must become of every message. */
export interface DemoDestination {
  readonly id: string
  readonly sources: readonly DemoSource[]
  readonly shows: string
  readonly secret: string
  readonly endpoints: readonly ('ok' | 'not-found' | 'fails-twice' | 'nobody-listens' | 'self-signed')[]
  readonly expect: {
    readonly becomes: 'delivered' | 'dead_lettered'
    /** Of its dead letters. */
    readonly reason: string
    /** Undefined: how many retries there are depends on when its breaker opens. */
    readonly retriesOfEach: number | undefined
  }
}

const delivered = { becomes: 'delivered', reason: '', retriesOfEach: 0 } as const

export const destinations: readonly DemoDestination[] = [
  {
    id: 'crm',
    sources: [web, app],
    shows: 'a healthy endpoint',
    secret: 'crm-secret',
    endpoints: ['ok'],
    expect: delivered,
  },
  {
    id: 'warehouse',
    sources: [web],
    shows: 'two webhooks, one answers 404: any success counts',
    secret: 'warehouse-secret',
    endpoints: ['not-found', 'ok'],
    expect: delivered,
  },
  {
    id: 'flaky',
    sources: [app],
    shows: 'fails twice with 503, then works',
    secret: 'flaky-secret',
    endpoints: ['fails-twice'],
    expect: { ...delivered, retriesOfEach: 2 },
  },
  {
    id: 'dead',
    sources: [web],
    shows: 'nobody listens: its breaker opens, each is tried, none is lost',
    secret: 'dead-secret',
    endpoints: ['nobody-listens'],
    expect: { becomes: 'dead_lettered', reason: 'retry_window_over', retriesOfEach: undefined },
  },
  {
    id: 'self-signed',
    sources: [web],
    shows: 'HTTPS with a self-signed certificate: nothing is sent',
    secret: 'self-signed-secret',
    endpoints: ['self-signed'],
    expect: { becomes: 'dead_lettered', reason: 'tls_untrusted', retriesOfEach: 0 },
  },
]

/** How many messages a destination is to get. */
export const sentTo = ({ sources }: DemoDestination): number => sources.reduce((sum, { messages }) => sum + messages, 0)
export const deliveryCount = destinations.reduce((sum, destination) => sum + sentTo(destination), 0)
export const messageCount = web.messages + app.messages

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

/** The demo's messages of one type, as events. */
export function demoEvents(type: MessageType, now: number): readonly Event[] {
  const fromWeb = Array.from({ length: webMessagesOfEachType }, (_, index) => demoEvent(web, type, index, now))
  return appTypes.includes(type) ? [...fromWeb, demoEvent(app, type, 0, now)] : fromWeb
}

function demoEvent(source: DemoSource, type: MessageType, index: number, now: number): Event {
  return {
    sourceId: source.id,
    destinationId: undefined,
    receivedAt: epochMs(now),
    canonical: true,
    origin: type === 'delete' ? { kind: 'deletion', id: 'demo-request', version: undefined } : undefined,
    message: demoMessage(`${source.id}-${type}-${String(index).padStart(3, '0')}`, type, index, now),
  }
}

function demoMessage(messageId: string, type: MessageType, index: number, now: number): Message {
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
    collector: { listen: '127.0.0.1:0' },
    ops: { listen: '127.0.0.1:0' },
    network: { allow: ['127.0.0.0/8'] },
    delivery,
    sources: [web, app].map(({ id }) => ({ id, writeKey: `demo-${id}-key` })),
    destinations: destinations.map(({ id, secret, sources }) => ({
      id,
      sources: sources.map(source => source.id),
      sharedSecret: secret,
      webhooks: (place.urls.get(id) ?? []).map(url => ({ url })),
    })),
  }
}
