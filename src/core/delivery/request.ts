import { createHmac, hash } from 'node:crypto'
import type { WebhookCall } from '../ports.ts'
import type { Destination, PayloadSettings, Webhook } from '../settings/settings.ts'
import { type EpochMs, revealed, type Secret } from '../units.ts'

/** The bytes that SHA-1 works on at a time. */
const blockBytes = 64
const digestBytes = 20

/** Padded key and message, and padded key and inner digest: one place each for all keys. */
let hashed = Buffer.alloc(4_096)
const outer = Buffer.alloc(blockBytes + digestBytes)

/**
 * HMAC-SHA1 (RFC 2104) of many messages with one key. Node's own `createHmac` makes a stream object for each of them, which takes three
 * times as long as the two hashes themselves; its results are the same, as a property test compares.
 */
export class HmacSha1 {
  /** Padded for the inner hash, and behind it for the outer one: with a thousand keys each Buffer more is one more that is far away. */
  readonly #keys: Buffer

  constructor(key: string) {
    const bytes = Buffer.from(key)
    const block = Buffer.alloc(blockBytes)
    const short = bytes.length > blockBytes ? hash('sha1', bytes, 'buffer') : bytes
    short.copy(block)
    this.#keys = Buffer.concat([block.map(byte => byte ^ 0x36), block.map(byte => byte ^ 0x5c)])
  }

  /** Lower-case hex. */
  hex(message: Buffer): string {
    const end = blockBytes + message.length
    if (hashed.length < end) hashed = Buffer.alloc(end * 2)
    this.#keys.copy(hashed, 0, 0, blockBytes)
    message.copy(hashed, blockBytes)
    this.#keys.copy(outer, 0, blockBytes)
    outer.write(hash('sha1', hashed.subarray(0, end), 'binary'), blockBytes, 'binary')
    return hash('sha1', outer, 'hex')
  }
}

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
