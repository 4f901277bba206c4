import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http'
import { paceParsing } from './paced-http-parsing.ts'
import type { HttpLimits } from './server-limits.ts'

/**
 * Creates a Node HTTP server with these limits, except for those of connections (see
 * close-connections-above-maximum.ts). The server reports invalid HTTP and timeouts with its event
 * `clientError`.
 */
export function createNodeServer(handler: RequestListener, limits: HttpLimits): Server {
  const server = createServer(
    {
      maxHeaderSize: limits.headBytes,
      headersTimeout: limits.headTimeout,
      requestTimeout: limits.requestTimeout,
      connectionsCheckingInterval: limits.checkEvery,
      keepAliveTimeout: limits.keepAlive,
      // The buffer is smaller than Node's default, so that Node reads less data in advance for a
      // connection whose further requests wait (paced-http-parsing.ts).
      highWaterMark: 16_384,
      // The Host header is checked in json-api-server.ts, because Node's own 400 response has no
      // body.
      requireHostHeader: false,
    },
    handler,
  )
  server.timeout = limits.silence
  // Node would silently drop the header fields above its limit, so this limit is turned off.
  // json-api-server.ts refuses a request with too many fields.
  server.maxHeadersCount = 0
  // A client that closes its side after sending a request still gets the response.
  Object.assign(server, { httpAllowHalfOpen: true })
  // Requests with an Expect header are handled like all others. `100 Continue` is sent when the
  // body is needed.
  for (const event of ['checkContinue', 'checkExpectation'])
    server.on(event, (request: IncomingMessage, response: ServerResponse) => server.emit('request', request, response))
  paceParsing(server, limits.pipelined)
  return server
}
