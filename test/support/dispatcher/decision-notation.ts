import type { CallOutcome, Decision } from '../../../src/core/delivery/decide.ts'
import type { DeliveryState } from '../../../src/core/delivery/delivery-state.ts'
import type { Outcome } from '../../../src/core/delivery/outcomes-reasons-and-classification.ts'
import { type EpochMs, formatDuration } from '../../../src/core/time.ts'
import { start, webhookOf } from '../builders.ts'

export function summary(decision: Decision, now: EpochMs = start): string {
  switch (decision.kind) {
    case 'delivered':
      return decision.kind
    case 'dropped':
    case 'dead_lettered':
      return `${decision.kind} ${decision.reason}`
    case 'deferred':
      return `${decision.kind} ${decision.cause} ${formatDuration(decision.tier)}`
    case 'retried': {
      const { carried, tier } = decision
      return `${decision.kind} after ${carried.notBefore - now}ms in ${formatDuration(tier)}`
    }
  }
}

export function carriedAfter(decision: Decision): DeliveryState {
  if (!('carried' in decision)) throw new TypeError(`${decision.kind} carries nothing`)
  return decision.carried
}

/**
 * Parses the outcomes of an attempt's requests: one word per webhook. `http_5xx/20`: with a
 * Retry-After of 20 s. `1:http_5xx`: for the webhook with index 1.
 */
export function callsOf(text: string): readonly CallOutcome[] {
  return text
    .split(' ')
    .filter(Boolean)
    .map((call, position) => {
      const [, index, outcome, retryAfter] = /^(?:(\d):)?(\w+)(?:\/(.+))?$/.exec(call) ?? []
      return { webhook: webhookOf(Number(index ?? position)), outcome: outcome as Outcome, retryAfter }
    })
}
