import fastify from 'fastify'
import type { Check, Health } from '../../core/health.ts'
import type { ListenAddress } from '../../core/settings.ts'
import type { Exposition } from '../metrics.ts'
import { prefersOpenMetrics } from './exposition-format.ts'

interface Deps {
  readonly listen: ListenAddress
  readonly health: () => Health
  /** In Prometheus' text format, and for whoever asks for it in OpenMetrics. */
  readonly metrics: Exposition & { readonly openMetrics: Exposition }
}

/** What operators and their machines ask: `/metrics`, `/livez`, `/readyz` (with `?verbose` one line a check). `/` lists them. */
export interface OpsServer {
  /** `http://host:port`, with the port that was really taken. */
  start(): Promise<string>
  stop(): Promise<void>
}

export function createOpsServer({ listen, health, metrics }: Deps): OpsServer {
  const server = fastify({ forceCloseConnections: true })
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

const paths = `/metrics           what Prometheus reads
/readyz?verbose    whether to count on this process: each check, and what was seen
/livez?verbose     whether a restart would help: the same
`

function lineOf({ name, ok, detail }: Check): string {
  return `${ok ? '+' : '-'} ${name}: ${detail}`
}
