import type { Outcome } from '../../../src/core/delivery/outcome.ts'

/* Names of Grafana's colours, by series: green is what is well, and nothing else. */

/** Yellow to violet comes back after a wait; what is red does not. */
export const ofOutcomes: Readonly<Record<Outcome, string>> = {
  delivered: 'green',
  http_408: 'light-yellow',
  http_429: 'yellow',
  http_5xx: 'orange',
  timeout: 'dark-yellow',
  dns: 'light-blue',
  connect: 'blue',
  reset: 'dark-blue',
  tls_other: 'light-purple',
  bad_response: 'purple',
  internal: 'dark-purple',
  http_3xx: 'super-light-red',
  http_4xx: 'red',
  tls_untrusted: 'dark-red',
  blocked_address: 'light-red',
}

export const ofDeliveries = {
  delivered: 'green',
  retried: 'yellow',
  deferred: 'blue',
  dropped: 'light-purple',
  dead_lettered: 'red',
} as const

export const ofMessages = { accepted: 'green', suppressed: 'blue', rejected: 'red' } as const

export const ofChanges = { applied: 'green', refused: 'red' } as const

/** What a process could not do stands out; the other codes are the senders’. */
export const ofAnswers = { ok: 'green', unavailable: 'red', internal_error: 'dark-red' } as const

export const ofLogLines = { warn: 'yellow', error: 'red' } as const
