import type { Clock, WebhookCall, WebhookTransport } from '../../core/ports.ts'
import type { NetworkSettings } from '../../core/settings.ts'
import type { DurationMs } from '../../core/units.ts'
import { createResolver, type Resolve, type Resolver, systemSources } from './resolve.ts'
import { type CallUnderWay, type Expiring, UnderWay } from './under-way.ts'

export interface TransportDeps {
  /** Read for every call: a change applies to new connections and drops idle ones. */
  readonly network: () => NetworkSettings
  /** For a whole call: DNS, connect, TLS, request, head and body of the answer (A4.1). */
  readonly timeout: DurationMs
  readonly clock: Clock
  /** Left out: the hosts file, the name servers, the operating system. */
  readonly resolver?: Resolver
}

/** One call. Ends once and never within `start`, with an answer or because it was told to expire: then perhaps within `expire`. */
export interface Exchange extends Expiring {
  start(): void
}

/** Who is told when a call has ended. */
export type CallEnd = Pick<CallUnderWay, 'ended'>

/** An HTTP client, as a transport is made of it. */
export interface HttpClient {
  exchange(call: WebhookCall, end: CallEnd): Exchange
  /** Keeps no connection from now on. */
  close(): void
}

export interface HttpClientDeps {
  readonly network: () => NetworkSettings
  readonly resolve: Resolve
  readonly clock: Clock
}

/** What is the same with every HTTP client: names, the deadline, and a close that waits for the calls under way. */
export function createTransport(deps: TransportDeps, open: (deps: HttpClientDeps) => HttpClient): WebhookTransport {
  const { network, timeout, clock } = deps
  const resolver = deps.resolver ?? createResolver({ clock, sources: systemSources() })
  const client = open({ network, resolve: resolver.resolve, clock })
  const underWay = new UnderWay(clock, timeout)

  return {
    post(call, onEnd) {
      const begun = underWay.add(onEnd)
      const exchange = client.exchange(call, begun)
      begun.expiring = exchange
      exchange.start()
    },
    async close() {
      await underWay.drained()
      resolver.close()
      client.close()
    },
  }
}
