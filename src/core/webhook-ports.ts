import type { TlsIdentity } from './network/tls-identity.ts'
import type { Secret } from './secret.ts'
import type { DurationMs } from './time.ts'

/* The interfaces of the HTTP clients for webhooks and authorization servers. */

/** One POST request to a webhook or a token endpoint. */
export interface WebhookCall {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** All requests for one Kafka record share this Buffer. */
  readonly body: Buffer
  /** Time limit of the request. If absent, the transport uses its own limit. */
  readonly timeoutMs?: DurationMs | undefined
  /**
   * If `undefined`, the request has no client certificate, and trusts the CAs of the network
   * settings.
   */
  readonly tlsIdentity?: TlsIdentity | undefined
  /**
   * Maximum bytes of the response's body that the result keeps. If absent, the result keeps none.
   */
  readonly keepBodyBytes?: number | undefined
  /**
   * Called when the connection is open (with TLS: after the handshake), and again each time the
   * transport repeats the request.
   */
  readonly onConnected?: (() => void) | undefined
}

/** The beginning of a response's body, not decompressed. */
export interface ResponseBody {
  readonly bytes: Buffer
  /** Whether the body is longer than `bytes`, or did not arrive completely. */
  readonly isTruncated: boolean
  /** The header `Content-Encoding`, for example `gzip`. */
  readonly contentEncoding: string | undefined
}

/**
 * The step at which a request failed.
 * - `auth`: no access token was available, or the endpoint refused the token, but will probably
 *   accept a later token.
 * - `address`: the address is not allowed, so nothing was sent.
 * - `proxy`: the proxy failed or refused, so nothing was sent to the endpoint.
 * - `exchange`: the connection was open, but sending or receiving failed.
 */
export type CallPhase = 'auth' | 'address' | 'dns' | 'proxy' | 'connect' | 'tls' | 'exchange' | 'deadline'

/**
 * The result of a request: `answered` as soon as the head of a response is complete. The body is
 * ignored, except with `keepBodyBytes`.
 */
export type CallResult =
  | {
      readonly kind: 'answered'
      readonly status: number
      readonly retryAfter: string | undefined
      readonly body?: ResponseBody
      /**
       * The access token of the request. Set only with `body`, because the body may repeat the
       * token. The caller must mask the token in the body.
       */
      readonly accessToken?: Secret
    }
  /** `code`: for example `ECONNRESET`. `detail`: one line for the log. */
  | { readonly kind: 'failed'; readonly phase: CallPhase; readonly code: string; readonly detail: string }

export interface WebhookTransport {
  /** Sends one request with a time limit. Calls `onEnd` exactly once, after `post` has returned. */
  post(call: WebhookCall, onEnd: (result: CallResult) => void): void
  /**
   * Whether the request probably needs no new connection: an idle connection exists, or the request
   * will fail before it needs a connection.
   */
  hasIdleConnection(call: Pick<WebhookCall, 'url' | 'tlsIdentity'>): boolean
  /** Closes idle connections, and resolves when the requests in progress have ended. */
  close(): Promise<void>
}

export type TokenAnswer =
  | (Omit<Extract<CallResult, { kind: 'answered' }>, 'body'> & { readonly body: string })
  | Extract<CallResult, { kind: 'failed' }>

/**
 * Sends token requests under the same rules (addresses, ports, CAs, proxy) as requests to webhooks.
 */
export interface TokenClient {
  /** Calls `onEnd` exactly once, after `post` has returned. */
  post(call: WebhookCall, onEnd: (answer: TokenAnswer) => void): void
  /** Ends the requests in progress; their `onEnd` is not called. */
  close(): void
}
