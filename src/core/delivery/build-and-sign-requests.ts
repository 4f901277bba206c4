import { createHmac, hash, type KeyObject, sign } from 'node:crypto'
import { revealed, type Secret } from '../secret.ts'
import type { Destination, PayloadSettings, Webhook } from '../settings/settings.ts'
import { parseSigningKey } from '../signing/ed25519-signing-key.ts'
import type { EpochMs } from '../time.ts'
import type { WebhookCall } from '../webhook-ports.ts'

/** The block size of SHA-1 in bytes. */
const blockBytes = 64
const digestBytes = 20

/**
 * Buffers for the inner and outer hash, shared by all `HmacSha1` objects to avoid an allocation for
 * each request.
 */
let hashed = Buffer.alloc(4_096)
const outer = Buffer.alloc(blockBytes + digestBytes)

/**
 * HMAC-SHA1 (RFC 2104) of many messages with one key. Node's own `createHmac` takes three times as
 * long.
 */
export class HmacSha1 {
  /**
   * The two padded forms of the key, in one Buffer: with many keys, two Buffers would cost more
   * cache misses.
   */
  readonly #keys: Buffer

  constructor(key: string) {
    const bytes = Buffer.from(key)
    const block = Buffer.alloc(blockBytes)
    const short = bytes.length > blockBytes ? hash('sha1', bytes, 'buffer') : bytes
    short.copy(block)
    this.#keys = Buffer.concat([block.map(byte => byte ^ 0x36), block.map(byte => byte ^ 0x5c)])
  }

  /** The digest as lower-case hex. */
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

/** The message and time of one attempt. */
interface Attempted {
  /** The request body in UTF-8. */
  readonly body: Buffer
  readonly messageId: string
  /** When the attempt is made. */
  readonly at: EpochMs
}

type SigningDestination = Pick<Destination, 'secrets' | 'secretRotatesAt' | 'signingKeys' | 'policy' | 'tlsIdentity'>

/** Returns the requests of one attempt, all with the same body and signature. */
export function requestsOf(
  delivery: Attempted & {
    readonly destination: SigningDestination
    readonly webhooks: readonly Webhook[]
    readonly payload: PayloadSettings
  },
): readonly WebhookCall[] {
  const { destination, webhooks, payload } = delivery
  const fixed = webhooks.map(webhook => ({
    url: revealed(webhook.url),
    headers: fixedHeaders(webhook, payload),
  }))
  return new RequestBuilder(destination, payload).calls(fixed, delivery)
}

/**
 * Makes the requests for a destination's attempts. A reload of the configuration needs a new
 * `RequestBuilder`.
 */
export class RequestBuilder {
  readonly #secrets: readonly Secret[]
  readonly #payload: PayloadSettings
  /** The parsed keys, by their text in the configuration. */
  readonly #signingKeys: ReadonlyMap<string, KeyObject>
  /** Whether requests get the Standard Webhooks headers, which need a secret or a private key. */
  readonly #standardWebhooks: boolean
  readonly #tlsIdentity: WebhookCall['tlsIdentity']
  /** Computes X-Signature; `undefined` when the destination has no secret. */
  readonly #sign: ((body: Buffer) => string) | undefined
  /** The `RequestBuilder` without the first secret, for attempts at or after `secretRotatesAt`. */
  readonly #next: { readonly at: EpochMs; readonly builder: RequestBuilder } | undefined

  /**
   * @param before the previous `RequestBuilder`, whose parsed keys are reused: parsing a key takes
   *   about 50 µs
   */
  constructor(destination: SigningDestination, payload: PayloadSettings, before?: RequestBuilder) {
    const { secrets, secretRotatesAt: at, signingKeys = [], policy, tlsIdentity } = destination
    const [first] = secrets
    const rotated = { ...destination, secrets: secrets.slice(1), secretRotatesAt: undefined }
    this.#next = at === undefined ? undefined : { at, builder: new RequestBuilder(rotated, payload, before) }
    this.#secrets = secrets
    this.#signingKeys = new Map(
      (policy?.signing === 'ed25519' ? signingKeys : []).flatMap(secret => {
        const text = secret.reveal()
        const known = before === undefined ? undefined : before.#signingKeys.get(text)
        const key = known ?? parseSigningKey(text)
        return key === undefined ? [] : [[text, key] as const]
      }),
    )
    this.#payload = payload
    const isSigned = first !== undefined || this.#signingKeys.size > 0
    this.#standardWebhooks = isSigned && (policy?.standardWebhooks ?? payload.standardWebhooks)
    this.#tlsIdentity = tlsIdentity
    this.#sign = first && signerOf(first)
  }

  /** Returns the requests of one attempt. `webhooks` must have the headers from `fixedHeaders`. */
  calls(webhooks: readonly Omit<WebhookCall, 'body'>[], attempted: Attempted): readonly WebhookCall[] {
    if (this.#next !== undefined && attempted.at >= this.#next.at) return this.#next.builder.calls(webhooks, attempted)
    const { messageIdHeader } = this.#payload
    const { body, messageId } = attempted
    const signature = this.#sign?.(body)
    const tlsIdentity = this.#tlsIdentity
    const standard = this.#standardWebhooks ? this.#standardWebhooksOf(attempted) : undefined
    return webhooks.map(({ url, headers: fixed, timeoutMs }) => {
      // Assigns each name separately, so that V8 gives all these objects one shape, which the HTTP
      // client reads faster.
      const headers: Record<string, string> = { ...fixed }
      if (messageIdHeader) headers['X-Message-Id'] = messageId
      if (signature !== undefined) headers['X-Signature'] = signature
      return {
        url,
        headers: standard === undefined ? headers : Object.assign(headers, standard),
        body,
        timeoutMs,
        tlsIdentity,
      }
    })
  }

  /**
   * Returns the headers of Standard Webhooks (https://www.standardwebhooks.com), with one signature
   * for each secret and private key. A receiver may check any of them.
   */
  #standardWebhooksOf({ body, messageId, at }: Attempted): Headers {
    const timestamp = String(Math.floor(at / 1_000))
    const before = `${messageId}.${timestamp}.`
    const signatures = this.#secrets.map(
      secret => `v1,${createHmac('sha256', standardKey(secret)).update(before).update(body).digest('base64')}`,
    )
    const asymmetric = [...this.#signingKeys.values()].map(key => {
      const signed = Buffer.concat([Buffer.from(before), body])
      return `v1a,${sign(null, signed, key).toString('base64')}`
    })
    return {
      'webhook-id': messageId,
      'webhook-timestamp': timestamp,
      'webhook-signature': [...asymmetric, ...signatures].join(' '),
    }
  }
}

/**
 * Returns a function that computes X-Signature: lower-case hex HMAC-SHA1 of the body's bytes. The
 * key is the secret in UTF-8.
 */
export function signerOf(secret: Secret): (body: Buffer) => string {
  const hmac = new HmacSha1(secret.reveal())
  return body => hmac.hex(body)
}

const standardSecretPattern = /^whsec_([A-Za-z0-9+/]+={0,2})$/

function standardKey(secret: Secret): Buffer {
  const [, base64] = standardSecretPattern.exec(secret.reveal()) ?? []
  return base64 === undefined ? Buffer.from(secret.reveal()) : Buffer.from(base64, 'base64')
}

/**
 * Returns the headers that do not change between attempts. A configured header replaces Hookline's
 * header of the same name.
 */
export function fixedHeaders({ headers }: Pick<Webhook, 'headers'>, { userAgent }: PayloadSettings): Headers {
  const ours = {
    'User-Agent': `${userAgent}/1.0`,
    'Content-Type': 'application/json',
    // Without these two headers, the HTTP client adds its own values. `identity` saves the CPU time
    // to decompress responses.
    Accept: '*/*',
    'Accept-Encoding': 'identity',
  }
  const given = new Set(Object.keys(headers).map(name => name.toLowerCase()))
  const kept = Object.entries(ours).filter(([name]) => !given.has(name.toLowerCase()))
  const own = Object.entries(headers).map(([name, value]) => [name, revealed(value)] as const)
  return Object.fromEntries([...kept, ...own])
}
