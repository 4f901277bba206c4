import type { Clock, Logger } from '../../core/ports.ts'
import type { CallResult } from '../../core/webhook-ports.ts'

/** Minimum time between two log lines, in ms. */
const intervalMs = 10_000

interface Deps {
  readonly clock: Pick<Clock, 'monotonic'>
  readonly logger: Logger
}

interface Labels {
  readonly destination: string
  readonly webhook: string
}

/** Logs failures of the proxy, at most once every 10 s, with their number since the last line. */
export type LogProxyFailure = (labels: Labels, failure: CallResult & { readonly kind: 'failed' }) => void

export function createProxyFailureLog({ clock, logger }: Deps): LogProxyFailure {
  let loggedAt = Number.NEGATIVE_INFINITY
  let count = 0

  return ({ destination, webhook }, { code, detail }) => {
    count++
    const now = clock.monotonic()
    if (now - loggedAt < intervalMs) return
    logger.error(
      { destination, webhook, outcome: 'proxy', code, detail, count },
      'request not sent, because the proxy failed or refused it (see "detail"); check the proxy and the setting network.proxy; hookline retries the delivery; "count" is the number of these failures since the previous line with this text',
    )
    loggedAt = now
    count = 0
  }
}
