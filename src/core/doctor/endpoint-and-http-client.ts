import { countWithNoun } from '../count-with-noun.ts'
import { classify, type Outcome } from '../delivery/outcomes-reasons-and-classification.ts'
import type { DeliverySettings } from '../settings/settings.ts'
import type { EpochMs } from '../time.ts'
import type { CallResult } from '../webhook-ports.ts'
import type { Judgement } from './finding.ts'

/** The result of connecting to an endpoint, without an HTTP request. */
export type Dialled =
  | {
      readonly kind: 'connected'
      readonly address: string
      readonly tookMs: number
      /**
       * The TLS version and the expiry of the endpoint's certificate. `undefined` for plain HTTP.
       */
      readonly tls: { readonly protocol: string; readonly goodUntil: EpochMs } | undefined
    }
  | (CallResult & { readonly kind: 'failed' })

const dayMs = 86_400_000
/**
 * A certificate that expires within this number of days causes a warning. Automatic renewal usually
 * happens a month before the expiry, so the renewal has probably failed.
 */
const warnWithinDays = 14

/** Judges the connection. If it failed, `detail` names the outcome that a delivery would have. */
export function judgeEndpoint(dialled: Dialled, now: EpochMs): Judgement {
  if (dialled.kind === 'failed') {
    const outcome = classify(dialled)
    const remedy = remedies[outcome]
    return { level: 'fail', detail: `${outcome}: ${dialled.detail}`, ...(remedy !== undefined && { remedy }) }
  }
  const { address, tookMs, tls } = dialled
  const reached = `connected to ${address} in ${Math.round(tookMs)} ms`
  if (tls === undefined) return { level: 'ok', detail: `${reached}, without TLS` }
  const days = Math.floor((tls.goodUntil - now) / dayMs)
  const detail = `${reached}, ${tls.protocol}, certificate valid for ${countWithNoun(days, 'day')}`
  if (days >= warnWithinDays) return { level: 'ok', detail }
  const remedy =
    'ask the owner of the endpoint to renew the certificate before it expires; Hookline sends no requests to an endpoint with an expired certificate (outcome tls_untrusted)'
  return { level: 'warn', detail, remedy }
}

const remedies: Readonly<Partial<Record<Outcome, string>>> = {
  blocked_address:
    'Hookline sends no requests to this endpoint, because its address or port is not permitted: correct the URL or the DNS record, or permit the address or port in the section "network"',
  dns: "check the host name and this machine's name servers",
  connect: 'check that the server is running, and that no firewall blocks this machine',
  timeout: 'check that the server is running, and that no firewall drops packets to it',
  reset: 'check that the server is running, and that no proxy between Hookline and the server closes connections',
  proxy: 'check network.proxy, and whether the proxy runs and permits connections to this endpoint',
  tls_untrusted:
    'Hookline does not trust the certificate, so it sends no requests to this endpoint: ask the owner of the endpoint to correct the certificate; if a private CA issued it, add this CA to network.caFile; if the destination has tls.caFile or tls.ca, add the CA there instead',
  tls_other:
    'the server must support TLS 1.2 or newer on this port, with a cipher suite other than DHE, for example ECDHE; if the server requires a client certificate, set "tls" of the destination',
}

/**
 * CPU time per delivery over HTTPS to one host, in µs, by HTTP client: the figures of
 * docs/performance, rounded.
 */
const costs: Readonly<Record<DeliverySettings['transport'], number>> = { got: 220, undici: 80 }

/** Reports the CPU cost of the configured HTTP client, for capacity planning. */
export function describeTransport(chosen: DeliverySettings['transport']): Judgement {
  const other = chosen === 'got' ? 'undici' : 'got'
  return {
    level: 'ok',
    detail: `the HTTP client "${chosen}" takes about ${costs[chosen]} µs of CPU time per delivery over HTTPS; with "delivery.transport: ${other}", a delivery takes about ${costs[other]} µs`,
  }
}
