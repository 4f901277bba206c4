import type { RequestListener, Server } from 'node:http'
import type { Socket } from 'node:net'
import fastify from 'fastify'
import type { Check, Health } from '../../core/health.ts'
import type { ListenAddress } from '../../core/settings/settings.ts'
import { durationMs } from '../../core/units.ts'
import type { Exposition } from '../metrics/metrics.ts'
import { createNodeServer } from './node-server.ts'
import { defaultLimits, type HttpLimits } from './server-limits.ts'

interface Deps {
  readonly listen: ListenAddress
  readonly health: () => Health
  /** In Prometheus' text format, and for whoever asks for it in OpenMetrics. */
  readonly metrics: Exposition & { readonly openMetrics: Exposition }
  readonly limits?: Partial<HttpLimits>
}

/** Requests here are a line and a few headers, and their senders are on the same network. */
const opsLimits: HttpLimits = {
  ...defaultLimits,
  headTimeout: durationMs(5_000),
  requestTimeout: durationMs(5_000),
  keepAlive: durationMs(5_000),
  silence: durationMs(10_000),
  connections: 64,
}

/** What operators and their machines ask: `/metrics`, `/livez`, `/readyz` (with `?verbose` one line a check). `/` lists them. */
export interface OpsServer {
  /** `http://host:port`, with the port that was really taken. */
  start(): Promise<string>
  stop(): Promise<void>
}

export function createOpsServer({ listen, health, metrics, ...deps }: Deps): OpsServer {
  const limits = { ...opsLimits, ...deps.limits }
  const server = fastify({
    forceCloseConnections: true,
    serverFactory: handler => closeOldestBeyond(createNodeServer(oneAtATime(handler), limits), limits.connections),
  })
  server.get('/metrics', async ({ headers }, reply) => {
    const { contentType, text } = prefersOpenMetrics(headers.accept) ? metrics.openMetrics : metrics
    return reply.type(contentType).send(await text())
  })
  const probe = (path: string, checks: () => readonly Check[]): void => {
    server.get<{ Querystring: { verbose?: string } }>(path, async (request, reply) => {
      const seen = checks()
      const failed = seen.filter(check => !check.ok)
      const shown = request.query.verbose === undefined ? failed : seen
      reply.code(failed.length === 0 ? 200 : 503).type('text/plain; charset=utf-8')
      return [...shown.map(lineOf), failed.length === 0 ? 'ok' : 'failed', ''].join('\n')
    })
  }
  server.get('/', async (_request, reply) => reply.type('text/plain; charset=utf-8').send(paths))
  probe('/livez', () => health().live)
  probe('/readyz', () => health().ready)
  return {
    start: () => server.listen({ host: listen.host, port: listen.port }),
    stop: () => server.close(),
  }
}

/**
 * A new connection closes the oldest one when there are `most` already. Node would drop the new one: then 64 silent connections
 * would make the kubelet's probes fail, and the process would be restarted.
 */
function closeOldestBeyond(server: Server, most: number): Server {
  const open = new Set<Socket>()
  server.maxConnections = 2 * most
  return server.prependListener('connection', (socket: Socket) => {
    const [oldest] = open
    if (open.size >= most) oldest?.destroy()
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
}

/**
 * Closes a connection on which a request comes before the last one is answered: no probe does that, and each answer of /metrics costs
 * milliseconds. Node would make hundreds of them that lie in one packet, and nothing else in between.
 */
function oneAtATime(handler: RequestListener): RequestListener {
  const busy = new WeakSet<Socket>()
  return (request, response) => {
    const { socket } = request
    if (busy.has(socket)) return void socket.destroy()
    busy.add(socket)
    response.once('close', () => busy.delete(socket))
    handler(request, response)
  }
}

const paths = `/metrics           what Prometheus reads
/readyz?verbose    whether to count on this process: each check, and what was seen
/livez?verbose     whether a restart would help: the same
`

function lineOf({ name, ok, detail }: Check): string {
  return `${ok ? '+' : '-'} ${name}: ${detail}`
}

/**
 * Whether a header `Accept` would rather have OpenMetrics 1.0 than the text format. It has to name it: who takes anything gets the text format, and
 * so do a browser and `curl`.
 */
export function prefersOpenMetrics(accept: string | undefined): boolean {
  let openMetrics = 0
  let text = 0
  for (const { type, version, weight } of rangesOf(accept ?? '')) {
    if (type === 'application/openmetrics-text' && version === '1.0.0') openMetrics = Math.max(openMetrics, weight)
    if (type === 'text/plain') text = Math.max(text, weight)
  }
  return openMetrics > 0 && openMetrics >= text
}

interface Range {
  readonly type: string
  /** 1.0.0 unless it says another. */
  readonly version: string
  /** RFC 9110, 12.4.2: 1 unless it says less. What is no number counts as nothing. */
  readonly weight: number
}

function rangesOf(accept: string): readonly Range[] {
  return accept.split(',').map(range => {
    const [type = '', ...parameters] = range.split(';').map(part => part.trim().toLowerCase())
    const given = new Map(parameters.map(parameter => parameter.split('=', 2) as [string, string]))
    const version = given.get('version')?.replaceAll('"', '') ?? '1.0.0'
    return { type, version, weight: Number(given.get('q') ?? 1) || 0 }
  })
}
