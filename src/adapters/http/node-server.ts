import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http'
import type { HttpLimits } from './server-limits.ts'

/** Node's server, as `HttpLimits` wants it. What is no HTTP, or comes too late, it reports as `clientError`. */
export function createNodeServer(handler: RequestListener, limits: HttpLimits): Server {
  const server = createServer(
    {
      maxHeaderSize: limits.headBytes,
      headersTimeout: limits.headTimeout,
      requestTimeout: limits.requestTimeout,
      connectionsCheckingInterval: limits.checkEvery,
      keepAliveTimeout: limits.keepAlive,
      // Node's own refusal has no body.
      requireHostHeader: false,
    },
    handler,
  )
  server.timeout = limits.silence
  server.maxConnections = limits.connections
  // Fields beyond Node's own bound would be dropped silently; here they are refused.
  server.maxHeadersCount = 0
  // Who closes its side when it has sent everything gets its answer.
  Object.assign(server, { httpAllowHalfOpen: true })
  // Every expectation goes the way of all requests: `100-continue` is answered when the body is wanted.
  for (const event of ['checkContinue', 'checkExpectation'])
    server.on(event, (request: IncomingMessage, response: ServerResponse) => server.emit('request', request, response))
  return server
}
