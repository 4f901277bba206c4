import { type CallType, callTypes, type MessageType } from '../../../src/core/message/message.ts'
import { app, appTypes, type DemoSource, web, webMessagesOfEachType } from './demo-configuration.ts'

/** How a message gets to Kafka: through the collector, directly, or from a deletion request. */
export const ways = ['collector', 'kafka', 'deletion'] as const
export type Way = (typeof ways)[number]

/** A call of the client library. */
export interface DemoCall {
  readonly source: DemoSource
  readonly way: Way
  readonly fields: { readonly messageId: string; readonly userId: string }
}

const idOf = (source: DemoSource, type: MessageType, index: number): string =>
  `${source.id}-${type}-${String(index).padStart(3, '0')}`

/** How a message is sent. Half of the messages of `web` go directly to Kafka. */
export function wayOf(messageId: string): Way {
  const [source, type, index] = messageId.split('-')
  if (source === 'delete') return 'deletion'
  if (source === app.id) return 'collector'
  return (callTypes.indexOf(type as CallType) + Number(index)) % 2 === 0 ? 'collector' : 'kafka'
}

const bodies: Record<CallType, (index: number) => object> = {
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
}

const userOf = (index: number): string => `user-${index % 20}`

export function demoCalls(type: CallType): readonly DemoCall[] {
  const fromWeb = Array.from({ length: webMessagesOfEachType }, (_, index) => demoCall(web, type, index))
  return appTypes.includes(type) ? [...fromWeb, demoCall(app, type, 0)] : fromWeb
}

function demoCall(source: DemoSource, type: CallType, index: number): DemoCall {
  const messageId = idOf(source, type, index)
  return { source, way: wayOf(messageId), fields: { ...bodies[type](index), messageId, userId: userOf(index) } }
}

/**
 * The users of the deletion request. They send no messages: Hookline drops messages of deleted
 * users.
 */
export const deletedUsers: readonly string[] = Array.from(
  { length: webMessagesOfEachType },
  (_, index) => `former-user-${index}`,
)
