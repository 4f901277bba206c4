import { type CallType, messageTypes } from '../../../src/core/message/message.ts'

/** Many of each type, from a source whose destinations show every way in which a delivery can end at once. */
export const webMessagesOfEachType = 50
/** A few from a second one: what fails twice does so for most of a few attempts, which does not open its breaker. */
export const appTypes: readonly CallType[] = ['identify', 'track', 'page', 'screen']

/** Waits before the 2nd, 3rd and 4th attempt, and the window: short, so that the demo ends within a minute or so. Nothing else differs from a real installation. */
export const delivery = { schedule: ['1s', '2s', '4s'], window: '30s' }

export interface DemoSource {
  readonly id: string
  readonly writeKey: string
  readonly messages: number
}

export const web: DemoSource = {
  id: 'web',
  writeKey: 'demo-web-key',
  messages: webMessagesOfEachType * messageTypes.length,
}
export const app: DemoSource = { id: 'app', writeKey: 'demo-app-key', messages: appTypes.length }
/** Sends nothing: its users are those of the audience, one of whom is deleted. */
export const shop: DemoSource = { id: 'shop', writeKey: 'demo-shop-key', messages: 0 }

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
    sources: [web, app, shop],
    shows: 'a healthy endpoint',
    secret: 'crm-secret',
    endpoints: ['ok'],
    expect: delivered,
  },
  {
    id: 'warehouse',
    sources: [web, shop],
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

/** Its members are nobody else in the demo. */
export const audienceName = 'First time shopper'
export const audienceProperty = 'first_time_shopper'
export const shopperName = (index: number): string => `shopper-${String(index).padStart(2, '0')}`

/** How many messages a destination is to get. */
export const sentTo = ({ sources }: DemoDestination): number => sources.reduce((sum, { messages }) => sum + messages, 0)
export const deliveryCount = destinations.reduce((sum, destination) => sum + sentTo(destination), 0)
export const messageCount = web.messages + app.messages

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
    sources: [web, app, shop].map(({ id, writeKey }) => ({ id, writeKey })),
    destinations: destinations.map(({ id, secret, sources }) => ({
      id,
      sources: sources.map(source => source.id),
      sharedSecret: secret,
      webhooks: (place.urls.get(id) ?? []).map(url => ({ url })),
    })),
    audiences: { list: [{ name: audienceName, destinations: ['crm'] }] },
  }
}
