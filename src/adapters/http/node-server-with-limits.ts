import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http'
import { paceParsing } from './paced-http-parsing.ts'
import type { HttpLimits } from './server-limits.ts'

/**
 * Creates a Node HTTP server with these limits. The caller must limit the number of connections.
 * Invalid HTTP and timeouts emit `clientError`.
 */
export function createNodeServer(handler: RequestListener, limits: HttpLimits): Server {
  const server = createServer(
    {
      maxHeaderSize: limits.headBytes,
      headersTimeout: limits.headTimeout,
      requestTimeout: limits.requestTimeout,
      connectionsCheckingInterval: limits.checkEvery,
      keepAliveTimeout: limits.keepAlive,
      // Smaller than Node's default, so that Node reads less in advance for a connection whose
      // requests wait (paced-http-parsing.ts).
      highWaterMark: 16_384,
      // json-api-server.ts checks the Host header, because Node's own 400 response has no body.
      requireHostHeader: false,
    },
    handler,
  )
  server.timeout = limits.inactivityTimeout
  // Node would silently drop header fields above its limit, so the limit is off. json-api-server.ts
  // refuses a request with too many fields.
  server.maxHeadersCount = 0
  // A client that closes its side after sending a request still gets the response.
  Object.assign(server, { httpAllowHalfOpen: true })
  // Handle a request with an Expect header like any other request. `100 Continue` is sent later,
  // when the handler needs the body.
  for (const event of ['checkContinue', 'checkExpectation'])
    server.on(event, (request: IncomingMessage, response: ServerResponse) => server.emit('request', request, response))
  paceParsing(server, limits.pipelined)
  return server
}
