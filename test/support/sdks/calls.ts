export interface Call {
  readonly type: 'identify' | 'track' | 'page' | 'screen' | 'group' | 'alias'
  readonly userId?: string
  readonly anonymousId?: string
  readonly event?: string
  readonly name?: string
  readonly category?: string
  readonly groupId?: string
  readonly previousId?: string
  /** In ISO 8601. */
  readonly timestamp?: string
  readonly messageId?: string
  readonly properties?: object
  readonly traits?: object
  readonly context?: object
  readonly integrations?: object
}

/** JSON values that an error in the encoding would change. */
const anything = {
  'a key with spaces': 'and a "text" with \\ and /',
  Größe: '😀 \u2028 é',
  numbers: [0, -1, 39.9, 1e21, 1e-7, 9007199254740991],
  nested: { empty: {}, list: [], deeper: [{ yes: true, no: false, nothing: null }] },
  html: '<b>&amp;</b>',
}

export const calls: readonly Call[] = [
  { type: 'identify', userId: 'u-1', traits: { email: 'ada@example.com', 'plan name': 'pro', ...anything } },
  {
    type: 'track',
    userId: 'u-1',
    event: 'Order Completed',
    properties: { total: 39.9, currency: 'EUR', ...anything },
    timestamp: '2012-12-02T00:30:08.276Z',
    context: { ip: '203.0.113.7', app: { name: 'Shop', version: '1.2.3' } },
    integrations: { All: false, Webhooks: true },
  },
  { type: 'track', anonymousId: 'a-1', event: 'Signed Up', properties: {} },
  {
    type: 'page',
    userId: 'u-1',
    category: 'Docs',
    name: 'Pricing',
    properties: { path: '/pricing', url: 'https://example.com/pricing?a=1&b=2', title: 'Pricing', referrer: '' },
  },
  { type: 'screen', userId: 'u-1', name: 'Settings', properties: { tab: 'Account' } },
  { type: 'group', userId: 'u-1', groupId: 'g-3', traits: { name: 'Initech', employees: 329 } },
  { type: 'alias', userId: 'u-1', previousId: 'a-1' },
]
