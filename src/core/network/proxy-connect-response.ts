/**
 * The meaning of a proxy's response to a CONNECT request.
 * - `open`: the tunnel to the endpoint is open.
 * - `endpoint_unreachable`: the proxy works, but could not connect to the endpoint.
 * - `proxy_failed`: the proxy refused the request or failed, so the response says nothing about the
 *   endpoint.
 */
export type ConnectVerdict = 'open' | 'endpoint_unreachable' | 'proxy_failed'

/**
 * Statuses with which proxies report that the endpoint cannot be reached. nginx and Smokescreen
 * send 502. Squid, HAProxy and Envoy send 503. Several of these proxies send 504 for a timeout.
 */
const gatewayStatuses: ReadonlySet<number> = new Set([502, 503, 504])

/** The error types of RFC 9209 2.3 that are about the endpoint. All others are about the proxy. */
const endpointErrors: ReadonlySet<string> = new Set([
  'connection_read_timeout',
  'connection_refused',
  'connection_terminated',
  'connection_timeout',
  'connection_write_timeout',
  'destination_ip_unroutable',
  'destination_not_found',
  'destination_unavailable',
  'dns_error',
  'dns_timeout',
])

/**
 * Judges a proxy's response to a CONNECT request (RFC 9110 9.3.6). `proxyStatus` is the
 * `Proxy-Status` header (RFC 9209). If the header names an error, that error decides. If not, the
 * statuses 502, 503 and 504 count as failures of the endpoint. Failures of the proxy do not open
 * the circuit breaker of a destination. So if these statuses counted as failures of the proxy, the
 * requests to an endpoint that is down would never stop.
 */
export function judgeConnectResponse(status: number, proxyStatus: string | undefined): ConnectVerdict {
  if (status >= 200 && status <= 299) return 'open'
  const errors = [...(proxyStatus ?? '').matchAll(/;\s*error=([a-z_]+)/g)].map(([, name = '']) => name)
  const isAboutEndpoint =
    errors.length === 0 ? gatewayStatuses.has(status) : errors.some(name => endpointErrors.has(name))
  return isAboutEndpoint ? 'endpoint_unreachable' : 'proxy_failed'
}
