import { createSink, type Sink, type SinkRequest } from '../../../src/adapters/http/sink-server.ts'
import { Secret } from '../../../src/core/secret.ts'
import { createAuthority } from '../../../test/support/network/certificates.ts'
import { type DemoDestination, destinations } from './demo-configuration.ts'
import { freePorts } from './free-ports.ts'

/** The endpoints of the demo: HTTP servers that verify signatures. */
export interface DemoEndpoints {
  /** The URLs of each destination, in the order of its webhooks. */
  readonly urls: ReadonlyMap<string, readonly string[]>
  /** The same as `urls`, except that `self-signed` has a working endpoint. */
  readonly repaired: ReadonlyMap<string, readonly string[]>
  stop(): Promise<void>
}

export async function startEndpoints(
  onRequest: (destination: string, request: SinkRequest) => void,
): Promise<DemoEndpoints> {
  const sinks: Sink[] = []
  const urls = new Map<string, readonly string[]>()

  async function start({ id, secret }: DemoDestination, kind: DemoDestination['endpoints'][number]): Promise<string> {
    if (kind === 'nobody-listens') return `http://127.0.0.1:${await freePorts(1)}/hooks`
    const sink = createSink({
      secrets: [new Secret(secret)],
      answers: { ok: [200], 'not-found': [404], 'fails-twice': [503, 503, 200], 'self-signed': [200] }[kind],
      tls: kind === 'self-signed' ? createAuthority().issue({ names: ['127.0.0.1'] }) : undefined,
      onRequest: request => onRequest(id, request),
    })
    sinks.push(sink)
    return `${await sink.start()}/hooks`
  }

  const repaired = new Map<string, readonly string[]>()
  for (const destination of destinations) {
    const started: string[] = []
    for (const kind of destination.endpoints) started.push(await start(destination, kind))
    urls.set(destination.id, started)
    repaired.set(destination.id, destination.id === 'self-signed' ? [await start(destination, 'ok')] : started)
  }
  return { urls, repaired, stop: async () => void (await Promise.all(sinks.map(sink => sink.stop()))) }
}
