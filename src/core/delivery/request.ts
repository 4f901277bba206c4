import { createHmac } from 'node:crypto'
import type { WebhookCall } from '../ports.ts'
import type { Objection } from '../settings/problem.ts'
import type { Destination, PayloadSettings, Webhook } from '../settings.ts'
import { type EpochMs, revealed, type Secret } from '../units.ts'
import { HmacSha1 } from './hmac.ts'

type Headers = Readonly<Record<string, string>>

/** What the calls of one attempt are about. */
interface Attempted {
  /** UTF-8. */
  readonly body: Buffer
  readonly messageId: string
  /** When the attempt is made. */
  readonly at: EpochMs
}

/** The POSTs of one attempt, ready to send: same body, same signature, each with its webhook's own headers. */
export function callsOf(
  delivery: Attempted & {
    readonly destination: Pick<Destination, 'secrets' | 'policy'>
    readonly webhooks: readonly Webhook[]
    readonly payload: PayloadSettings
  },
): readonly WebhookCall[] {
  const { destination, webhooks, payload } = delivery
  const standing = webhooks.map(webhook => ({
    url: revealed(webhook.url),
    headers: standingHeaders(webhook, payload),
  }))
  return new CallMaker(destination, payload).calls(standing, delivery)
}

/** Makes the calls of a destination's attempts by one state of the settings. Of these it is kept: what no attempt changes is made once. */
export class CallMaker {
  readonly #secrets: readonly Secret[]
  readonly #payload: PayloadSettings
  readonly #standardWebhooks: boolean
  /** A5.5: without a shared secret nothing is signed, by no scheme. */
  readonly #sign: ((body: Buffer) => string) | undefined

  constructor({ secrets, policy }: Pick<Destination, 'secrets' | 'policy'>, payload: PayloadSettings) {
    const [first] = secrets
    this.#secrets = secrets
    this.#payload = payload
    this.#standardWebhooks = policy?.standardWebhooks ?? payload.standardWebhooks
    this.#sign = first && signerOf(first)
  }

  /** `webhooks`: with their standing headers. */
  calls(webhooks: readonly Pick<WebhookCall, 'url' | 'headers'>[], attempted: Attempted): readonly WebhookCall[] {
    const { messageIdHeader } = this.#payload
    const { body, messageId } = attempted
    const signature = this.#sign?.(body)
    const standard = this.#standardWebhooks && signature !== undefined ? this.#standardWebhooksOf(attempted) : undefined
    return webhooks.map(({ url, headers: standing }) => {
      // Name by name: so V8 knows the shape of what comes out, which is read once more for every call.
      const headers: Record<string, string> = { ...standing }
      if (messageIdHeader) headers['X-Message-Id'] = messageId
      if (signature !== undefined) headers['X-Signature'] = signature
      return { url, headers: standard === undefined ? headers : Object.assign(headers, standard), body }
    })
  }

  /** https://www.standardwebhooks.com: every secret signs, so that a receiver may switch to the new one at any time. */
  #standardWebhooksOf({ body, messageId, at }: Attempted): Headers {
    const timestamp = String(Math.floor(at / 1_000))
    const before = `${messageId}.${timestamp}.`
    const signatures = this.#secrets.map(
      secret => `v1,${createHmac('sha256', standardKey(secret)).update(before).update(body).digest('base64')}`,
    )
    return {
      'webhook-id': messageId,
      'webhook-timestamp': timestamp,
      'webhook-signature': signatures.join(' '),
    }
  }
}

/** X-Signature (A5.3): lower-case hex HMAC-SHA1 of the body's bytes, keyed with the secret's UTF-8. */
export function signerOf(secret: Secret): (body: Buffer) => string {
  const hmac = new HmacSha1(secret.reveal())
  return body => hmac.hex(body)
}

const standardSecretPattern = /^whsec_([A-Za-z0-9+/]+={0,2})$/

function standardKey(secret: Secret): Buffer {
  const [, base64] = standardSecretPattern.exec(secret.reveal()) ?? []
  return base64 === undefined ? Buffer.from(secret.reveal()) : Buffer.from(base64, 'base64')
}

/** What is the same for every call of a webhook. A static header stands in place of ours of that name. */
export function standingHeaders({ headers }: Pick<Webhook, 'headers'>, { userAgent }: PayloadSettings): Headers {
  const ours = {
    'User-Agent': `${userAgent}/1.0`,
    'Content-Type': 'application/json',
    // Both would otherwise be added by the HTTP client: the answer's body is not used, least of all unpacked (A4.1).
    Accept: '*/*',
    'Accept-Encoding': 'identity',
  }
  const given = new Set(Object.keys(headers).map(name => name.toLowerCase()))
  const kept = Object.entries(ours).filter(([name]) => !given.has(name.toLowerCase()))
  const own = Object.entries(headers).map(([name, value]) => [name, revealed(value)] as const)
  return Object.fromEntries([...kept, ...own])
}

/** Headers that are Hookline's or HTTP's to give, in lower case. */
const reservedNames = new Set([
  'host',
  'content-length',
  'content-type',
  'content-encoding',
  'transfer-encoding',
  'connection',
  'upgrade',
  'te',
  'trailer',
  'expect',
  'keep-alive',
  'user-agent',
  'x-signature',
  'x-message-id',
])
const reservedPrefixes = ['proxy-', 'webhook-']
/** RFC 9110 5.6.2 */
const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
/** RFC 9110 5.5: TAB, visible ASCII with space, and bytes from 0x80, which Node writes as Latin-1. */
const fieldValue = /^[\t\x20-\x7e\x80-\xff]*$/

const maxValueBytes = 4_096
const maxBytesOfAll = 8_192
const shorten = 'these headers are for keys and names: make them shorter'

/**
 * Why a static header cannot be configured; undefined when it can. The text has neither the value nor the name, because a mistake in the form
 * can turn a credential into a name. Only names that Hookline sets itself are in it.
 */
export function refuseHeader(name: string, value: string): Objection | undefined {
  const lower = name.toLowerCase()
  if (!token.test(name)) {
    return { message: 'the name of this header is not valid', hint: "use letters, digits and !#$%&'*+-.^_`|~" }
  }
  // The one token that plain objects, which HTTP clients keep headers in, cannot hold.
  if (name === '__proto__') return { message: 'a header of this name cannot be sent', hint: 'take another name' }
  const prefix = reservedPrefixes.find(each => lower.startsWith(each))
  if (reservedNames.has(lower) || prefix !== undefined) {
    const which = prefix === undefined ? JSON.stringify(name) : `${JSON.stringify(prefix)}…`
    return { message: `header ${which} is set by Hookline or by HTTP itself`, hint: 'leave it out' }
  }
  if (!fieldValue.test(value)) {
    const message = 'the value of this header holds a line break or another character that HTTP does not allow'
    return { message, hint: 'allowed: TAB, 0x20-0x7e and 0x80-0xff' }
  }
  // One byte a character, after the check above.
  if (value.length > maxValueBytes) {
    const message = `the value of this header is ${value.length} bytes long, more than ${maxValueBytes}`
    return { message, hint: shorten }
  }
  return undefined
}

/** Why a webhook's static headers do not go together; undefined when they do. Each one passed `refuseHeader` before. */
export function refuseHeaders(headers: Readonly<Record<string, string>>): Objection | undefined {
  const seen = new Set<string>()
  let bytes = 0
  for (const [name, value] of Object.entries(headers)) {
    if (seen.has(name.toLowerCase())) {
      return { message: 'one header stands twice', hint: 'leave one of them out: names ignore case' }
    }
    seen.add(name.toLowerCase())
    bytes += name.length + value.length
  }
  if (bytes <= maxBytesOfAll) return undefined
  return { message: `the headers are ${bytes} bytes together, more than ${maxBytesOfAll}`, hint: shorten }
}
