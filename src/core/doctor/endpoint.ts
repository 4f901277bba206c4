import { classify, type Outcome } from '../delivery/outcome.ts'
import type { CallResult } from '../ports.ts'
import type { DeliverySettings } from '../settings/settings.ts'
import type { EpochMs } from '../units.ts'
import { type Judgement, numbered } from './finding.ts'

/** How far a connection to an endpoint came; nothing was sent over it. */
export type Dialled =
  | {
      readonly kind: 'connected'
      readonly address: string
      readonly tookMs: number
      /** Undefined: plain HTTP. */
      readonly tls: { readonly protocol: string; readonly goodUntil: EpochMs } | undefined
    }
  | (CallResult & { readonly kind: 'failed' })

const dayMs = 86_400_000
/** Time for somebody to have it renewed; what is renewed by itself is renewed a month before. */
const warnWithinDays = 14

/** The outcomes that a connection alone can have are what calls to this endpoint will have. */
export function judgeEndpoint(dialled: Dialled, now: EpochMs): Judgement {
  if (dialled.kind === 'failed') {
    const outcome = classify(dialled)
    const remedy = remedies[outcome]
    return { level: 'fail', detail: `${outcome}: ${dialled.detail}`, ...(remedy !== undefined && { remedy }) }
  }
  const { address, tookMs, tls } = dialled
  const reached = `${address} connects in ${Math.round(tookMs)} ms`
  if (tls === undefined) return { level: 'ok', detail: `${reached}, without TLS` }
  const days = Math.floor((tls.goodUntil - now) / dayMs)
  const detail = `${reached}, ${tls.protocol}, certificate good for ${numbered(days, 'day')}`
  if (days >= warnWithinDays) return { level: 'ok', detail }
  return { level: 'warn', detail, remedy: 'have it renewed: once it has expired nothing is sent (tls_untrusted)' }
}

const remedies: Readonly<Partial<Record<Outcome, string>>> = {
  blocked_address: 'calls there are refused and not tried again',
  dns: 'check the name, and the name servers of this machine',
  connect: 'is the server up, and may this machine connect to it?',
  timeout: 'is the server up, or does something in between drop what is sent to it?',
  reset: 'is the server up, or does something in between close its connections?',
  tls_untrusted: 'nothing is sent there: have it fixed, or name its authority in network.caFile',
  tls_other: 'the server must speak TLS 1.2 or newer on this port, without asking for a certificate of ours',
}

/** CPU time of one delivery in µs, all included, with answers after 20 ms: docs/performance, rounded. */
const costs: Readonly<Record<DeliverySettings['transport'], number>> = { got: 170, undici: 60 }

/** No verdict: what the choice costs, where a fleet is sized. */
export function tellTransport(chosen: DeliverySettings['transport']): Judgement {
  const other = chosen === 'got' ? 'undici' : 'got'
  return {
    level: 'ok',
    detail: `${chosen}: some ${costs[chosen]} µs of CPU a delivery; delivery.transport: ${other} takes some ${costs[other]}, and promises the same`,
  }
}
