import { describe, expect, it } from '@jest/globals'
import { type ConnectVerdict, judgeConnectResponse } from '../../../../src/core/network/judge-proxy-connect-response.ts'

describe("a proxy's response to CONNECT", () => {
  it.each<[number, string | undefined, ConnectVerdict]>([
    [200, undefined, 'open'],
    [299, undefined, 'open'],
    [200, 'p; error=connection_refused', 'open'],
    [100, undefined, 'proxy_failed'],
    [302, undefined, 'proxy_failed'],
    [400, undefined, 'proxy_failed'],
    [403, undefined, 'proxy_failed'],
    [407, undefined, 'proxy_failed'],
    [429, undefined, 'proxy_failed'],
    [500, undefined, 'proxy_failed'],
    [501, undefined, 'proxy_failed'],
    [502, undefined, 'endpoint_unreachable'],
    [503, undefined, 'endpoint_unreachable'],
    [504, undefined, 'endpoint_unreachable'],
    [502, '', 'endpoint_unreachable'],
    [502, 'squid; received-status=502', 'endpoint_unreachable'],
    [502, 'p; error=destination_ip_prohibited', 'proxy_failed'],
    [503, 'p; error=connection_limit_reached; details="full"', 'proxy_failed'],
    [502, 'p; error=proxy_loop_detected', 'proxy_failed'],
    [503, 'p;error=destination_unavailable', 'endpoint_unreachable'],
    [500, 'p; error=destination_not_found', 'endpoint_unreachable'],
    [502, 'first; error=connection_timeout, second; error=http_upgrade_failed', 'endpoint_unreachable'],
    [502, 'p; error=an_unknown_error', 'proxy_failed'],
  ])('%i with Proxy-Status %j: %s', (status, proxyStatus, verdict) => {
    expect(judgeConnectResponse(status, proxyStatus)).toBe(verdict)
  })
})
