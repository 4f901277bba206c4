/**
 * - `endpoint_unreachable`: the proxy works, but could not connect to the endpoint.
 * - `proxy_failed`: the proxy refused the request or failed. The response says nothing about the
 *   endpoint.
 */
export type ConnectVerdict = 'open' | 'endpoint_unreachable' | 'proxy_failed'

/**
 * Proxies send these statuses when they cannot reach the endpoint: nginx and Smokescreen 502;
 * Squid, HAProxy and Envoy 503; several send 504 for a timeout.
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
 * `Proxy-Status` header (RFC 9209), whose error decides. If it names no error, 502, 503 and 504
 * count as failures of the endpoint. Otherwise requests to an endpoint that is down would never
 * stop, because failures of the proxy do not open a circuit breaker.
 */
export function judgeConnectResponse(status: number, proxyStatus: string | undefined): ConnectVerdict {
  if (status >= 200 && status <= 299) return 'open'
  const errors = [...(proxyStatus ?? '').matchAll(/;\s*error=([a-z_]+)/g)].map(([, name = '']) => name)
  const isAboutEndpoint =
    errors.length === 0 ? gatewayStatuses.has(status) : errors.some(name => endpointErrors.has(name))
  return isAboutEndpoint ? 'endpoint_unreachable' : 'proxy_failed'
}
