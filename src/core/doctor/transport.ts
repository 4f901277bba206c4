import type { DeliverySettings } from '../settings.ts'
import type { Judgement } from './finding.ts'

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
