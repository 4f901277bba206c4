import type { JsonObject } from '../../../core/message/json.ts'
import type { CallType } from '../../../core/message/message.ts'

export interface SampleOptions {
  /** The same seed gives the same messages and message ids. */
  readonly seed: number
  readonly types: readonly CallType[]
  /** The number of different users in the messages. */
  readonly users: number
}

/**
 * Returns a generator of messages like those of a web shop. It starts with one message of each
 * type.
 */
export function createSampleMessages({ seed, types, users }: SampleOptions): () => JsonObject {
  const chance = createChance(seed)
  let made = 0
  return () => {
    const type = types[made] ?? chance.weighted(types, percentByType)
    made += 1
    const user = chance.below(users)
    return {
      type,
      messageId: `sample-${seed}-${made}`,
      ...identity(type, user, chance),
      ...bodies[type](user, chance),
      context: type === 'screen' ? appContext(chance) : webContext(chance),
    }
  }
}

const percentByType: Record<CallType, number> = { track: 48, page: 28, identify: 12, screen: 8, group: 3, alias: 1 }

function identity(type: CallType, user: number, chance: Chance): JsonObject {
  if (type === 'alias') return { userId: `user-${user}`, previousId: `visitor-${user}` }
  const isKnown = type === 'identify' || type === 'group' || chance.below(5) > 0
  return isKnown ? { userId: `user-${user}`, anonymousId: `visitor-${user}` } : { anonymousId: `visitor-${user}` }
}

const firstNames = ['Ada', 'Grace', 'Alan', 'Katherine', 'Edsger', 'Barbara', 'Donald', 'Zoë'] as const
const plans = ['free', 'team', 'enterprise'] as const
const products = ['Espresso beans', 'Filter paper', 'Hand grinder', 'Kettle', 'Café crème', 'Scale'] as const
const pages = ['Home', 'Shop', 'Product', 'Basket', 'Blog'] as const
const screens = ['Welcome', 'Catalogue', 'Basket', 'Order status'] as const

const bodies: Record<CallType, (user: number, chance: Chance) => JsonObject> = {
  identify: (user, chance) => {
    const name = firstNames[user % firstNames.length]
    return { traits: { name, email: `user-${user}@example.com`, plan: chance.pick(plans), logins: chance.below(500) } }
  },
  group: (user, chance) => ({
    groupId: `company-${user % 50}`,
    traits: { name: `Company ${user % 50}`, employees: 5 + chance.below(2_000), 'billing plan': chance.pick(plans) },
  }),
  alias: () => ({}),
  page: (_user, chance) => {
    const title = chance.pick(pages)
    const path = `/${title.toLowerCase()}`
    const properties = { path, referrer: 'https://search.example/', title, url: `https://shop.example${path}` }
    return { name: title, properties }
  },
  screen: (_user, chance) => ({ name: chance.pick(screens), properties: { orientation: 'portrait' } }),
  track: (_user, chance) => (chance.below(4) === 0 ? order(chance) : productViewed(chance)),
}

function productViewed(chance: Chance): JsonObject {
  return { event: 'Product Viewed', properties: { ...product(chance), position: chance.below(40) } }
}

function order(chance: Chance): JsonObject {
  const bought = Array.from({ length: 1 + chance.below(4) }, () => ({
    ...product(chance),
    quantity: 1 + chance.below(3),
  }))
  const cents = bought.reduce((sum, { price, quantity }) => sum + Math.round(price * 100) * quantity, 0)
  return {
    event: 'Order Completed',
    properties: { orderId: `order-${chance.below(1e9)}`, total: cents / 100, currency: 'EUR', products: bought },
  }
}

function product(chance: Chance): { sku: string; name: string; price: number } {
  const index = chance.below(products.length)
  return { sku: `sku-${index}`, name: products[index] ?? '', price: (199 + 700 * index) / 100 }
}

/** The context of a message from a browser. The IP addresses are for documentation (RFC 5737). */
const webContext = (chance: Chance): JsonObject => ({
  ip: `203.0.113.${chance.below(256)}`,
  locale: chance.pick(['de-DE', 'en-GB', 'fr-FR'] as const),
  userAgent: 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0',
})

const appContext = (chance: Chance): JsonObject => ({
  app: { build: '2.4.1.9', name: 'Shop', version: '2.4.1' },
  device: { model: chance.pick(['Pixel 11', 'Fairphone 7'] as const), type: 'android' },
  os: { name: 'Android', version: '17' },
})

/** A seeded random number generator. */
interface Chance {
  /** An integer from 0 to `limit` − 1. */
  below(limit: number): number
  pick<T>(values: readonly [T, ...T[]]): T
  weighted<T extends string>(values: readonly T[], weight: Readonly<Record<T, number>>): T
}

/** The Mulberry32 generator. */
function createChance(seed: number): Chance {
  let state = seed | 0
  function next(): number {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  return {
    below: limit => Math.floor(next() * limit),
    pick: values => values[Math.floor(next() * values.length)] ?? values[0],
    weighted(values, weight) {
      let left = next() * values.reduce((sum, value) => sum + weight[value], 0)
      for (const value of values) {
        left -= weight[value]
        if (left < 0) return value
      }
      return values.at(-1) as (typeof values)[number]
    },
  }
}
