import { isIP } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { maxSessionAgeMs, maxTickets } from './http-client-limits.ts'

/**
 * The server name in a TLS handshake (RFC 6066 section 3): a host name without a final dot; empty
 * for an IP address.
 */
export const serverNameOf = (host: string): string => (isIP(host) === 0 ? host.replace(/\.$/, '') : '')

/**
 * The error of a connection that was not opened, because the endpoint's certificate was refused
 * several times just before. `code` is that of the last refusal.
 */
export class CertificateRefusedBefore extends Error {
  readonly code: string

  constructor({ message, code }: Refusal) {
    super(
      `Hookline paused connections to this endpoint, because Hookline rejected the endpoint's certificate several times (${code}: ${message})`,
    )
    this.code = code
  }
}

/** The peer sent more TLS session tickets than any real server sends. */
class TooManyTickets extends Error {
  readonly code = 'ERR_TLS_TOO_MANY_TICKETS'

  constructor() {
    super(`the endpoint sent more than ${maxTickets} TLS session tickets on one connection`)
  }
}

/** The peer renegotiated a TLS 1.2 connection more often than any real server. */
class TooManyRenegotiations extends Error {
  readonly code = 'ERR_TLS_TOO_MANY_RENEGOTIATIONS'

  constructor() {
    super(`the endpoint renegotiated TLS more than ${maxHandshakes - 1} times on one connection`)
  }
}

/** The peer changed the keys of a TLS 1.3 connection more often than any real server. */
class TooManyKeyUpdates extends Error {
  readonly code = 'ERR_TLS_TOO_MANY_KEY_UPDATES'

  constructor() {
    super(`the endpoint changed the TLS keys of one connection more than ${maxKeyUpdates} times`)
  }
}

/**
 * Maximum TLS handshakes on one connection. IIS needs a second one to request the client
 * certificate.
 */
const maxHandshakes = 3

/**
 * Maximum changes of the keys of one connection (KeyUpdate, RFC 8446 4.6.3). Real servers change
 * them after many gigabytes.
 */
const maxKeyUpdates = 64

interface Refusal {
  readonly message: string
  readonly code: string
}

interface Endpoint {
  session: Buffer | undefined
  /** When the certificate of `session` was checked, in monotonic milliseconds. */
  checkedAt: number
  /** Number of refused certificates since the last trusted one. */
  refusals: number
  lastRefusal: Refusal | undefined
  /** Until when no connection is opened, in monotonic milliseconds. */
  pausedUntil: number
}

/**
 * Refused certificates in a row after which connections to an endpoint pause. One is not enough:
 * perhaps only one of several servers behind a name has a wrong certificate.
 */
const refusalsBeforePause = 8
const pauseMs = 5_000

/**
 * Keeps the last TLS session of each endpoint, to save half of a handshake. Limits connections
 * after refused certificates, because each refusal costs CPU time.
 */
export class TlsEndpoints {
  readonly #monotonic: () => number
  /** By `host:port`. Endpoints come from the configuration, so they are few. */
  readonly #endpoints = new Map<string, Endpoint>()

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic
  }

  /**
   * Returns the error for a new connection while connections to this endpoint pause; `undefined` if
   * the connection may be opened.
   */
  refuse(host: string, port: number): CertificateRefusedBefore | undefined {
    const endpoint = this.#endpoints.get(`${host}:${port}`)
    if (endpoint?.lastRefusal === undefined || endpoint.refusals < refusalsBeforePause) return undefined
    const now = this.#monotonic()
    if (now < endpoint.pausedUntil) return new CertificateRefusedBefore(endpoint.lastRefusal)
    endpoint.pausedUntil = now + pauseMs
    return undefined
  }

  /** The option of `tls.connect` that resumes the last session, unless it is too old. */
  resume(host: string, port: number): { readonly session?: Buffer } {
    const { session, checkedAt = 0 } = this.#endpoints.get(`${host}:${port}`) ?? {}
    return session === undefined || this.#monotonic() - checkedAt > maxSessionAgeMs ? {} : { session }
  }

  /**
   * Follows a connection: stores its TLS session, or counts the refusal of its certificate. Call
   * this method when the socket starts to connect.
   */
  follow(socket: TLSSocket, host: string, port: number): void {
    const endpoint = this.#of(`${host}:${port}`)
    const begun = this.#monotonic()
    // A resumed session skips the check of the host name, so only a session that passed the check
    // is kept.
    let latest: Buffer | undefined
    const keep = (): void => {
      if (!socket.authorized || latest === undefined) return
      endpoint.session = latest
      if (!socket.isSessionReused()) endpoint.checkedAt = begun
    }
    let isSecure = false
    socket.once('secureConnect', () => {
      isSecure = true
      endpoint.refusals = 0
      keep()
    })
    let handshakes = 0
    socket.on('secure', () => {
      if (++handshakes > maxHandshakes) socket.destroy(new TooManyRenegotiations())
    })
    // Count KeyUpdates by the event `keylog`, because Node has no event for a KeyUpdate. Node emits
    // `keylog` for each new secret; the secrets of the handshake come before `secureConnect`. The
    // secrets are never read. The error is created only once: even after `destroy`, OpenSSL
    // processes the bytes that have already arrived, perhaps 2,000 more KeyUpdates.
    let keyUpdates = 0
    socket.on('keylog', () => {
      if (isSecure && ++keyUpdates === maxKeyUpdates + 1) socket.destroy(new TooManyKeyUpdates())
    })
    let tickets = 0
    socket.on('session', session => {
      if (++tickets > maxTickets) return void socket.destroy(new TooManyTickets())
      latest = session
      keep()
    })
    socket.once('error', (error: NodeJS.ErrnoException) => {
      if (isSecure) return
      // The server may have rejected the resumed session.
      endpoint.session = undefined
      if (socket.authorizationError) this.#noteRefusal(endpoint, error)
    })
  }

  #noteRefusal(endpoint: Endpoint, { message, code = '' }: NodeJS.ErrnoException): void {
    endpoint.refusals += 1
    endpoint.lastRefusal = { message, code }
    if (endpoint.refusals >= refusalsBeforePause) endpoint.pausedUntil = this.#monotonic() + pauseMs
  }

  #of(key: string): Endpoint {
    const known = this.#endpoints.get(key)
    if (known !== undefined) return known
    const endpoint = { session: undefined, checkedAt: 0, refusals: 0, lastRefusal: undefined, pausedUntil: 0 }
    this.#endpoints.set(key, endpoint)
    return endpoint
  }
}
