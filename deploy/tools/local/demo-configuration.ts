import { type CallType, messageTypes } from '../../../src/core/message/message.ts'

/** Number of messages of each type from the source `web`. */
export const webMessagesOfEachType = 50
/**
 * `app` sends one message of each type. With many more messages, the circuit breaker of the failing
 * destination `flaky` would open.
 */
export const appTypes: readonly CallType[] = ['identify', 'track', 'page', 'screen']

/** Short, so that the demo takes about one minute. */
export const delivery = { schedule: ['1s', '2s', '4s'], window: '30s' }

export interface DemoSource {
  readonly id: string
  readonly writeKey: string
  readonly messages: number
}

export const operatorKey = 'demo-operator-key'

export const web: DemoSource = {
  id: 'web',
  writeKey: 'demo-web-key',
  messages: webMessagesOfEachType * messageTypes.length,
}
export const app: DemoSource = { id: 'app', writeKey: 'demo-app-key', messages: appTypes.length }
/** A source without messages. One member of the audience is deleted as a user of this source. */
export const shop: DemoSource = { id: 'shop', writeKey: 'demo-shop-key', messages: 0 }

/** A destination with the behaviour of its endpoints and the expected result of each message. */
export interface DemoDestination {
  readonly id: string
  readonly sources: readonly DemoSource[]
  readonly shows: string
  readonly secret: string
  readonly endpoints: readonly ('ok' | 'not-found' | 'fails-twice' | 'nobody-listens' | 'self-signed')[]
  readonly expect: {
    readonly becomes: 'delivered' | 'dead_lettered'
    readonly reason: string
    /** `undefined` if the number depends on when the circuit breaker opens. */
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
    shows: 'two webhooks, one returns 404: one success is enough',
    secret: 'warehouse-secret',
    endpoints: ['not-found', 'ok'],
    expect: delivered,
  },
  {
    id: 'flaky',
    sources: [app],
    shows: 'fails twice with 503, then succeeds',
    secret: 'flaky-secret',
    endpoints: ['fails-twice'],
    expect: { ...delivered, retriesOfEach: 2 },
  },
  {
    id: 'dead',
    sources: [web],
    shows: 'connection refused: the circuit breaker opens, no message is lost',
    secret: 'dead-secret',
    endpoints: ['nobody-listens'],
    expect: { becomes: 'dead_lettered', reason: 'retry_window_over', retriesOfEach: undefined },
  },
  {
    id: 'self-signed',
    sources: [web],
    shows: 'self-signed HTTPS certificate: no request is sent',
    secret: 'self-signed-secret',
    endpoints: ['self-signed'],
    expect: { becomes: 'dead_lettered', reason: 'tls_untrusted', retriesOfEach: 0 },
  },
]

/** Members of this audience send no messages. */
export const audienceName = 'First time shopper'
export const audienceProperty = 'first_time_shopper'
export const shopperName = (index: number): string => `shopper-${String(index).padStart(2, '0')}`

/** The number of messages for a destination. */
export const sentTo = ({ sources }: DemoDestination): number => sources.reduce((sum, { messages }) => sum + messages, 0)
export const deliveryCount = destinations.reduce((sum, destination) => sum + sentTo(destination), 0)
export const messageCount = web.messages + app.messages

/** The configuration file with the URLs of the endpoints. */
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
    operator: { listen: '127.0.0.1:0', keys: [{ name: 'demo', role: 'operate', key: operatorKey }] },
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
