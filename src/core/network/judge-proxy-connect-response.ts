/**
 * What a response to CONNECT means. `open`: the tunnel is open. `proxy_failed`: the proxy itself
 * refused the request or failed, so nothing is known about the endpoint.
 */
export type ConnectVerdict = 'open' | 'endpoint_unreachable' | 'proxy_failed'

/**
 * The statuses with which proxies report an unreachable endpoint: nginx and Smokescreen send 502;
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
 * Judges a response to CONNECT (RFC 9110 9.3.6) by the error in `proxyStatus` (RFC 9209). Without
 * an error there, 502, 503 and 504 count as failures of the endpoint, so that the destination's
 * circuit breaker can open.
 */
export function judgeConnectResponse(status: number, proxyStatus: string | undefined): ConnectVerdict {
  if (status >= 200 && status <= 299) return 'open'
  const errors = [...(proxyStatus ?? '').matchAll(/;\s*error=([a-z_]+)/g)].map(([, name = '']) => name)
  const isAboutEndpoint =
    errors.length === 0 ? gatewayStatuses.has(status) : errors.some(name => endpointErrors.has(name))
  return isAboutEndpoint ? 'endpoint_unreachable' : 'proxy_failed'
}
