import type { JsonText } from '../../../src/core/message/canonical-json-text.ts'
import type { Event } from '../../../src/core/message/event.ts'
import type { EventCodec, OutgoingRecord } from '../../../src/core/ports.ts'
import { epochMs } from '../../../src/core/time.ts'

/** Bytes of an event record's value, including the frame with the schema id. */
export const eventBytes = 967
/**
 * Number of users. With many users, an event rarely waits for an earlier event of the same user.
 */
const users = 20_000

const idPrefix = 'bench-'
const idDigits = 9

/** The message id of the n-th event, the same text in Avro and in JSON. */
export const idOf = (number: number): string => idPrefix + String(number).padStart(idDigits, '0')

/** Finds the number of an event in its bytes, in any format. */
export function numberIn(bytes: Buffer): number | undefined {
  const start = bytes.indexOf(idPrefix, 0, 'latin1')
  if (start < 0) return undefined
  let number = 0
  for (let at = start + idPrefix.length; at < start + idPrefix.length + idDigits; at++) {
    const digit = (bytes[at] ?? 0) - 0x30
    if (digit < 0 || digit > 9) return undefined
    number = number * 10 + digit
  }
  return number
}

/**
 * Returns a function that makes the record of the nth event. All records have the same size.
 * @throws RangeError when an event exceeds `eventBytes`
 */
export function createEvents(
  codec: EventCodec,
  sourceIds: readonly string[],
): (number: number, source?: string) => OutgoingRecord {
  const record = (number: number, filler: string, source?: string): OutgoingRecord => {
    const userId = `user-${String(mixed(number) % users).padStart(6, '0')}`
    const event = eventOf(number, userId, source ?? sourceIds[number % sourceIds.length] ?? '', filler)
    return { key: Buffer.from(userId), value: codec.encode(event), headers: {} }
  }
  let filler = ''
  // A longer filler may need a longer length prefix, so the size is measured again.
  for (let missing = Number.NaN; missing !== 0; ) {
    missing = eventBytes - (record(0, filler).value?.length ?? 0)
    if (missing < 0 && filler === '') throw new RangeError(`an event is ${-missing} bytes larger than ${eventBytes}`)
    filler = 'x'.repeat(filler.length + missing)
  }
  return (number, source) => record(number, filler, source)
}

function eventOf(number: number, userId: string, sourceId: string, filler: string): Event {
  const id = idOf(number)
  const now = epochMs(Date.now())
  return {
    sourceId,
    destinationId: undefined,
    receivedAt: now,
    canonical: true,
    origin: undefined,
    message: {
      type: 'track',
      messageId: id,
      userId,
      anonymousId: `visitor-${userId}`,
      groupId: undefined,
      previousId: undefined,
      event: 'Order Completed',
      name: undefined,
      category: undefined,
      timestamp: now,
      properties: JSON.stringify(order(id, filler)) as JsonText,
      traits: undefined,
      context: JSON.stringify(context) as JsonText,
      integrations: undefined,
    },
  }
}

const order = (orderId: string, note: string) => ({
  orderId,
  total: 47.93,
  currency: 'EUR',
  coupon: null,
  products: [
    { sku: 'sku-1', name: 'Espresso beans', price: 14.99, quantity: 2 },
    { sku: 'sku-4', name: 'Café crème', price: 17.95, quantity: 1 },
  ],
  note,
})

/** The IP address is reserved for documentation (RFC 5737). */
const context = {
  ip: '203.0.113.7',
  locale: 'de-DE',
  page: { path: '/checkout/done', referrer: 'https://shop.example/checkout', title: 'Thank you' },
  userAgent: 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0',
}

/** Permutes 0, 1, 2, … into a pseudo-random order (the finaliser of MurmurHash3). */
function mixed(number: number): number {
  let hash = number + 1
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
