import type { Server } from 'node:http'
import fastify from 'fastify'
import type { Check, Health } from '../../core/health.ts'
import { ConnectionLimiter } from '../../core/network/server-connection-limiter.ts'
import type { ListenAddress } from '../../core/settings/settings.ts'
import { durationMs } from '../../core/time.ts'
import type { Exposition } from '../metrics/metrics.ts'
import { limitConnections } from './close-connections-above-maximum.ts'
import { createNodeServer } from './node-server-with-limits.ts'
import { defaultLimits, type HttpLimits } from './server-limits.ts'

interface Deps {
  readonly listen: ListenAddress
  readonly health: () => Health
  /**
   * The metrics in Prometheus' text format. `openMetrics` is for clients that prefer OpenMetrics.
   */
  readonly metrics: Exposition & { readonly openMetrics: Exposition }
  readonly limits?: Partial<HttpLimits>
}

/**
 * These limits are lower than the defaults, because monitoring requests are small and come from a
 * local network.
 */
const opsLimits: HttpLimits = {
  ...defaultLimits,
  headTimeout: durationMs(5_000),
  requestTimeout: durationMs(5_000),
  keepAlive: durationMs(5_000),
  inactivityTimeout: durationMs(10_000),
  connections: 64,
  pipelined: 1,
}

/**
 * The server for monitoring: `/metrics`, `/livez` and `/readyz`. With `?verbose`, `/livez` and
 * `/readyz` show one line per check.
 */
export interface OpsServer {
  /** Starts to listen. Returns `http://host:port` with the actual port. */
  start(): Promise<string>
  stop(): Promise<void>
}

export function createOpsServer({ listen, health, metrics, ...deps }: Deps): OpsServer {
  const limits = { ...opsLimits, ...deps.limits }
  const server = fastify({
    forceCloseConnections: true,
    serverFactory: handler => replaceBeyond(createNodeServer(handler, limits), limits.connections),
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
 * Makes each new connection beyond `max` replace an open one, even one with a request in progress.
 * Otherwise `max` slow readers would block the kubelet's probes.
 */
function replaceBeyond(server: Server, max: number): Server {
  limitConnections(server, new ConnectionLimiter(max, max))
  return server
}

const paths = `/metrics           metrics for Prometheus
/readyz?verbose    whether this process is ready, with the result of each check
/livez?verbose     whether this process is alive (if not, restart it), with the result of each check
`

function lineOf({ name, ok, detail }: Check): string {
  return `${ok ? '+' : '-'} ${name}: ${detail}`
}

/**
 * Whether an Accept header prefers OpenMetrics 1.0. The header must name OpenMetrics: a wildcard
 * gets the text format.
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
  /** The parameter `version` of the media type. Default: 1.0.0. */
  readonly version: string
  /** The quality value (RFC 9110, 12.4.2). Default: 1. A value that is not a number counts as 0. */
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
