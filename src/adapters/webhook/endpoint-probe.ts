import net, { isIP, type Socket } from 'node:net'
import tls, { type TLSSocket } from 'node:tls'
import type { Dialled } from '../../core/doctor/endpoint.ts'
import { partsOf } from '../../core/network/url.ts'
import type { Clock } from '../../core/ports.ts'
import type { NetworkSettings } from '../../core/settings/settings.ts'
import { type DurationMs, epochMs, formatDuration } from '../../core/time.ts'
import { failureOf, timeoutResult } from './call-failure.ts'
import { followProgress } from './connection-progress.ts'
import { type ConnectionRules, createConnectionRules } from './connection-rules.ts'
import { createResolver, type Resolver, systemSources } from './resolver.ts'

/**
 * Connects to endpoints exactly as deliveries do (name resolution, address and port checks, trust,
 * deadline), but sends no request.
 */
export interface EndpointExaminer {
  /** Never rejects: a failure is a result. */
  dial(url: URL): Promise<Dialled>
  /** Cancels DNS queries in progress. */
  close(): void
}

export function createEndpointExaminer(deps: {
  readonly network: NetworkSettings
  /**
   * The time limit of a whole webhook request. If connecting takes longer, no delivery to the
   * endpoint can succeed.
   */
  readonly timeout: DurationMs
  readonly clock: Clock
  readonly resolver?: Resolver
}): EndpointExaminer {
  const { network, timeout, clock } = deps
  const resolver = deps.resolver ?? createResolver({ clock, sources: systemSources() })
  const rules = createConnectionRules(network, resolver.resolve)

  return {
    close: () => resolver.close(),
    dial: url => {
      const { hostname: host, port, isTls } = partsOf(url)
      const refusal = rules.refuse(host, port)
      if (refusal !== undefined) return Promise.resolve(failureOf(refusal, 'connect'))
      const { promise, resolve } = Promise.withResolvers<Dialled>()
      const startedAt = clock.monotonic()
      const socket = isTls ? connectTls(rules, host, port) : net.connect({ host, port, ...rules.connect })
      const progress = followProgress(socket, host, isTls, startedAt)
      const end = (dialled: Dialled): void => {
        cancel()
        socket.destroy()
        resolve(dialled)
      }
      const cancel = clock.after(timeout, () => end(timeoutResult(progress.phase, formatDuration(timeout))))
      socket.once('error', error => end(failureOf(error, progress.phase)))
      // The server closed its side. Node does not close this side by itself, so no other event
      // would follow.
      socket.once('end', () => end(failureOf(closedEarly(), progress.phase)))
      socket.once(isTls ? 'secureConnect' : 'connect', () => {
        const { remoteAddress: address = host } = socket
        end({ kind: 'connected', address, tookMs: clock.monotonic() - startedAt, tls: tlsOf(socket) })
      })
      return promise
    },
  }
}

const connectTls = (rules: ConnectionRules, host: string, port: number): TLSSocket =>
  // An IP address is not sent as the server name in the handshake (RFC 6066 §3). The certificate
  // must still be valid for the address.
  tls.connect({ host, port, ...rules.connect, ...(isIP(host) === 0 && { servername: host }) })

function tlsOf(socket: Socket): (Dialled & { kind: 'connected' })['tls'] {
  if (!(socket instanceof tls.TLSSocket)) return undefined
  const goodUntil = epochMs(Date.parse(socket.getPeerCertificate().valid_to))
  return { protocol: socket.getProtocol() ?? 'TLS', goodUntil }
}

const closedEarly = (): Error =>
  Object.assign(new Error('the server closed the connection during the handshake'), { code: 'ECONNRESET' })
