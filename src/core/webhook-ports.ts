import type { TlsIdentity } from './network/tls-identity.ts'
import type { Secret } from './secret.ts'
import type { DurationMs } from './time.ts'

/* The interfaces of the HTTP clients for webhooks and authorization servers. */

/** One POST request to a webhook or a token endpoint, ready to send. */
export interface WebhookCall {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** The request body. All requests for one Kafka record share this Buffer. */
  readonly body: Buffer
  /** The time limit of this request. Absent means the time limit of the transport. */
  readonly timeoutMs?: DurationMs | undefined
  /**
   * The client certificate and trusted CAs of the destination. `undefined` means those of the
   * network settings.
   */
  readonly tlsIdentity?: TlsIdentity | undefined
  /**
   * Maximum bytes of the response's body that the result keeps. Absent means none, as for
   * deliveries.
   */
  readonly keepBodyBytes?: number | undefined
}

/** The beginning of a response's body, as the endpoint sent it: it is not decompressed. */
export interface ResponseBody {
  readonly bytes: Buffer
  /** Whether the body is longer than `bytes`, or did not arrive completely. */
  readonly isTruncated: boolean
  /** The header `Content-Encoding`, for example `gzip`. */
  readonly contentEncoding: string | undefined
}

/**
 * The step at which a request failed.
 * - `auth`: there was no access token, so nothing was sent; or the endpoint refused the token with
 *   401, but will probably accept a later one.
 * - `address`: the address is not allowed, so nothing was sent.
 * - `dns`, `connect`, `tls`: the connection to the endpoint could not be opened.
 * - `proxy`: the proxy failed or refused, so nothing was sent to the endpoint.
 * - `exchange`: the connection was open, but the request could not be sent or the response could
 *   not be received.
 * - `deadline`: the time limit was exceeded.
 */
export type CallPhase = 'auth' | 'address' | 'dns' | 'proxy' | 'connect' | 'tls' | 'exchange' | 'deadline'

/**
 * The result of a request. It is `answered` as soon as the head of a response is complete. The body
 * is ignored, except with `keepBodyBytes`.
 */
export type CallResult =
  | {
      readonly kind: 'answered'
      readonly status: number
      readonly retryAfter: string | undefined
      readonly body?: ResponseBody
      /**
       * The access token of the request. The caller must mask it in `body`, because an endpoint may
       * repeat it there. Set only with `body`.
       */
      readonly accessToken?: Secret
    }
  /** `code`: the error's code, for example `ECONNRESET`. `detail`: one line for the log. */
  | { readonly kind: 'failed'; readonly phase: CallPhase; readonly code: string; readonly detail: string }

export interface WebhookTransport {
  /** Sends one request with a time limit. Calls `onEnd` exactly once, after `post` has returned. */
  post(call: WebhookCall, onEnd: (result: CallResult) => void): void
  /** Closes idle connections. Resolves after the requests in progress have ended. */
  close(): Promise<void>
}

/** The result of a token request, with the body of the response. */
export type TokenAnswer =
  | (Omit<Extract<CallResult, { kind: 'answered' }>, 'body'> & { readonly body: string })
  | Extract<CallResult, { kind: 'failed' }>

/**
 * Sends token requests under the same rules as requests to webhooks: addresses, ports, CAs and
 * proxy.
 */
export interface TokenClient {
  /** Sends one request with a time limit. Calls `onEnd` exactly once, after `post` has returned. */
  post(call: WebhookCall, onEnd: (answer: TokenAnswer) => void): void
  /** Ends the requests in progress; their `onEnd` is not called. */
  close(): void
}
