import http, { type ClientRequest, type IncomingMessage } from 'node:http'
import https from 'node:https'
import { urlParts } from '../../core/network/url.ts'
import { formatDuration } from '../../core/time.ts'
import type { TokenAnswer, TokenClient, WebhookCall } from '../../core/webhook-ports.ts'
import { failureOf, timeoutResult } from './call-failure.ts'
import { type ConnectionPhase, createConnectionsProgress } from './connection-progress.ts'
import { createResolver, systemSources } from './dns-resolver.ts'
import { type AgentPair, createAgents, type TunnelOption } from './got-agents.ts'
import { maxBodyBytes, maxHeadBytes, maxInterimResponses, ResponseTooLong } from './http-client-limits.ts'
import type { OpeningTunnel } from './proxy-tunnel.ts'
import type { TransportDeps } from './transport-for-any-http-client.ts'

/**
 * Sends token requests with the rules for webhook requests (addresses, proxy, CAs, no redirects,
 * size). Each token request has its own connection. `timeout` limits the whole exchange.
 */
export function createTokenClient({ network, timeout, clock, resolver }: TransportDeps): TokenClient {
  const connections = createConnectionsProgress(clock)
  const names = resolver ?? createResolver({ clock, sources: systemSources() })
  const agents = createAgents({ network, resolve: names.resolve, connections, clock })
  /** Functions that stop the requests in progress. */
  const stops = new Set<() => void>()

  return {
    post(call, onEnd) {
      let tunnel: OpeningTunnel | undefined
      const onTunnel = (opening: OpeningTunnel): void => {
        tunnel = opening
      }
      const request = begin(call, agents.fresh(undefined), { onTunnel })
      // While a tunnel is being opened, the request has no socket, so the tunnel knows the phase.
      const phase = (): ConnectionPhase => (request.socket ? undefined : tunnel?.phase) ?? connections.phaseOf(request)
      let hasHead = false
      const stop = (): void => {
        cancelTimer()
        tunnel?.cancel()
        request.destroy()
      }
      const end = (answer: TokenAnswer): void => {
        if (!stops.delete(stop)) return
        stop()
        onEnd(answer)
      }
      const expire = (): void => {
        const expired = timeoutResult(phase(), formatDuration(timeout))
        end(
          hasHead
            ? { ...expired, detail: `timed out after ${formatDuration(timeout)} while reading the response body` }
            : expired,
        )
      }
      const cancelTimer = clock.after(timeout, expire)
      stops.add(stop)
      request.once('response', () => {
        hasHead = true
      })
      receive(request, end, error => end(failureOf(error, phase())))
      request.end(call.body)
    },
    close() {
      for (const stop of stops) stop()
      stops.clear()
      names.close()
      agents.close()
    },
  }
}

function begin({ url, headers, body }: WebhookCall, agents: AgentPair, tunnel: TunnelOption): ClientRequest {
  const parts = urlParts(url)
  if (parts === undefined) throw new TypeError('the token URL must be an http or https URL')
  const { isTls, host, hostname, port, path } = parts
  const options: http.RequestOptions & TunnelOption = {
    ...tunnel,
    method: 'POST',
    hostname,
    port,
    path,
    headers: { ...headers, Host: host, 'Content-Length': body.length },
    maxHeaderSize: maxHeadBytes,
    agent: isTls ? agents.https : agents.http,
  }
  return (isTls ? https : http).request(options)
}

/**
 * Calls `end` or `fail` with the result, possibly several times. The caller must ignore all calls
 * of `end` and `fail` after the first one.
 */
function receive(request: ClientRequest, end: (answer: TokenAnswer) => void, fail: (error: Error) => void): void {
  let interim = 0
  request.on('information', () => {
    if (++interim > maxInterimResponses)
      fail(new ResponseTooLong(`the token endpoint sent more than ${maxInterimResponses} interim (1xx) responses`))
  })
  request.on('error', fail)
  // For a status 101 with an `Upgrade` header, Node emits `upgrade` in place of `response`.
  request.on('upgrade', response => end(answerOf(response, '')))
  request.on('response', response => {
    const chunks: Buffer[] = []
    let bytes = 0
    response.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      chunks.push(chunk)
      if (bytes > maxBodyBytes) fail(new ResponseTooLong(`the response body has more than ${maxBodyBytes} bytes`))
    })
    response.on('error', fail)
    response.on('end', () => end(answerOf(response, Buffer.concat(chunks).toString())))
  })
}

const answerOf = ({ statusCode: status = 0, headers }: IncomingMessage, body: string): TokenAnswer => ({
  kind: 'answered',
  status,
  retryAfter: headers['retry-after'],
  body,
})
