import net, { type Socket } from 'node:net'
import tls, { type TLSSocket } from 'node:tls'
import type { Dialled } from '../../core/doctor/endpoint-and-http-client.ts'
import type { TlsIdentity } from '../../core/network/tls-identity.ts'
import { partsOf, type UrlParts } from '../../core/network/url.ts'
import type { Cancel, Clock } from '../../core/ports.ts'
import type { NetworkSettings } from '../../core/settings/settings.ts'
import { type DurationMs, epochMs, formatDuration } from '../../core/time.ts'
import { failureOf, timeoutResult } from './call-failure.ts'
import { type ConnectionPhase, followProgress, type Progress } from './connection-progress.ts'
import { type ConnectionRules, createConnectionRules } from './connection-rules.ts'
import { createResolver, type Resolver, systemSources } from './dns-resolver.ts'
import type { OpeningTunnel } from './proxy-tunnel.ts'
import { serverNameOf } from './tls-sessions-and-certificate-refusals.ts'

/** Connects to endpoints exactly as deliveries do, but sends no request to them. */
export interface EndpointDialer {
  /** Connects to an endpoint. It never rejects: a failure is a result. */
  dial(url: URL, identity?: TlsIdentity): Promise<Dialled>
  /** Cancels DNS queries in progress. */
  close(): void
}

interface Deps {
  readonly network: NetworkSettings
  /** The time limit of a whole webhook request. */
  readonly timeout: DurationMs
  readonly clock: Clock
  readonly resolver?: Resolver
}

export function createEndpointDialer(deps: Deps): EndpointDialer {
  const { network, clock } = deps
  const resolver = deps.resolver ?? createResolver({ clock, sources: systemSources() })
  const rules = createConnectionRules(network, resolver.resolve)

  return {
    close: () => resolver.close(),
    dial: (url, identity) => {
      const own = rulesFor(identity, rules)
      return 'refused' in own ? Promise.resolve(own.refused) : new EndpointDial(partsOf(url), own, deps).start()
    },
  }
}

/** The connection rules for this identity; `refused` if OpenSSL does not accept the identity. */
function rulesFor(
  identity: TlsIdentity | undefined,
  rules: ConnectionRules,
): ConnectionRules | { readonly refused: Dialled } {
  try {
    return identity === undefined ? rules : rules.withIdentity(identity)
  } catch (error) {
    return { refused: failureOf(error as Error, 'tls') }
  }
}

/** One connection to an endpoint, directly or through the proxy. */
class EndpointDial {
  readonly #endpoint: UrlParts
  readonly #rules: ConnectionRules
  readonly #timeout: DurationMs
  readonly #clock: Clock
  readonly #dialled = Promise.withResolvers<Dialled>()
  readonly #startedAt: number
  #tunnel: OpeningTunnel | undefined
  #progress: Progress | undefined
  #socket: Socket | undefined
  #cancelTimer: Cancel | undefined

  constructor(endpoint: UrlParts, rules: ConnectionRules, { timeout, clock }: Deps) {
    this.#endpoint = endpoint
    this.#rules = rules
    this.#timeout = timeout
    this.#clock = clock
    this.#startedAt = clock.monotonic()
  }

  start(): Promise<Dialled> {
    const { hostname: host, port, isTls } = this.#endpoint
    this.#cancelTimer = this.#clock.after(this.#timeout, () =>
      this.#end(timeoutResult(this.#phase, formatDuration(this.#timeout))),
    )
    const refusal = this.#rules.refuse(host, port)
    const tunnels = this.#rules.tunnelsFor(host)
    if (refusal !== undefined) this.#end(failureOf(refusal, 'connect'))
    else if (tunnels === undefined)
      this.#follow(isTls ? this.#connectTls() : net.connect({ host, port, ...this.#rules.connect }), false)
    else
      this.#tunnel = tunnels.open(host, port, {
        onOpen: socket => (isTls ? this.#follow(this.#connectTls(socket), true) : this.#connected(socket)),
        onError: error => this.#fail(error),
      })
    return this.#dialled.promise
  }

  get #phase(): ConnectionPhase {
    return this.#progress?.phase ?? this.#tunnel?.phase ?? 'connect'
  }

  #connectTls(tunnel?: Socket): TLSSocket {
    const { hostname: host, port } = this.#endpoint
    const servername = serverNameOf(host)
    return tls.connect({ host, port, ...this.#rules.connect, servername, ...(tunnel && { socket: tunnel }) })
  }

  #follow(socket: Socket, isTunnelled: boolean): void {
    const { hostname: host, isTls } = this.#endpoint
    this.#socket = socket
    this.#progress = followProgress(socket, { host, isTls, isTunnelled }, this.#startedAt)
    socket.once('error', error => this.#fail(error))
    // On `end`, the server has closed its side. Node emits no further event, so without this
    // listener, the dial would end only at its deadline.
    socket.once('end', () => this.#fail(closedEarly()))
    socket.once(isTls ? 'secureConnect' : 'connect', () => this.#connected(socket))
  }

  #connected(socket: Socket): void {
    this.#socket = socket
    // Through a proxy, the address of the socket is that of the proxy.
    const address = this.#tunnel === undefined ? (socket.remoteAddress ?? this.#endpoint.hostname) : undefined
    const tookMs = this.#clock.monotonic() - this.#startedAt
    this.#end({ kind: 'connected', address: address ?? 'the endpoint through the proxy', tookMs, tls: tlsOf(socket) })
  }

  #fail(error: Error): void {
    this.#end(failureOf(error, this.#phase))
  }

  #end(dialled: Dialled): void {
    this.#cancelTimer?.()
    this.#tunnel?.cancel()
    this.#socket?.destroy()
    this.#dialled.resolve(dialled)
  }
}

function tlsOf(socket: Socket): (Dialled & { kind: 'connected' })['tls'] {
  if (!(socket instanceof tls.TLSSocket)) return undefined
  const goodUntil = epochMs(Date.parse(socket.getPeerCertificate().valid_to))
  return { protocol: socket.getProtocol() ?? 'TLS', goodUntil }
}

const closedEarly = (): Error =>
  Object.assign(new Error('the server closed the connection during the handshake'), { code: 'ECONNRESET' })
