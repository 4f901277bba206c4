import type { DeliverySettings } from '../settings.ts'
import type { Judgement } from './finding.ts'

/** CPU time of one call in µs: docs/decisions/0007, and the load of docs/performance. */
const costs: Readonly<Record<DeliverySettings['transport'], number>> = { got: 190, undici: 26 }

/** No verdict: what the choice costs, where a fleet is sized. */
export function tellTransport(chosen: DeliverySettings['transport']): Judgement {
  const other = chosen === 'got' ? 'undici' : 'got'
  return {
    level: 'ok',
    detail: `${chosen}: some ${costs[chosen]} µs of CPU a call; delivery.transport: ${other} takes some ${costs[other]}, and promises the same`,
  }
}
