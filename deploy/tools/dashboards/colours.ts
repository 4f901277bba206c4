import type { Outcome } from '../../../src/core/delivery/outcomes-reasons-and-classification.ts'

/* Names of Grafana's colours by series. Only good results are green. */

/** Red outcomes are permanent failures. All others except `delivered` are retried. */
export const outcomeColours: Readonly<Record<Outcome, string>> = {
  delivered: 'green',
  http_408: 'light-yellow',
  http_429: 'yellow',
  http_5xx: 'orange',
  timeout: 'dark-yellow',
  dns: 'light-blue',
  connect: 'blue',
  proxy: 'semi-dark-blue',
  reset: 'dark-blue',
  tls_other: 'light-purple',
  bad_response: 'purple',
  auth: 'super-light-blue',
  internal: 'dark-purple',
  http_3xx: 'super-light-red',
  http_4xx: 'red',
  tls_untrusted: 'dark-red',
  blocked_address: 'light-red',
}

export const deliveryColours = {
  delivered: 'green',
  retried: 'yellow',
  deferred: 'blue',
  dropped: 'light-purple',
  dead_lettered: 'red',
} as const

export const messageColours = { accepted: 'green', suppressed: 'blue', rejected: 'red' } as const

export const changeColours = { applied: 'green', refused: 'red' } as const

/** Only failures of Hookline are red. Grafana chooses the colours for mistakes of senders. */
export const responseColours = { ok: 'green', unavailable: 'red', internal_error: 'dark-red' } as const

export const logLineColours = { warn: 'yellow', error: 'red' } as const
