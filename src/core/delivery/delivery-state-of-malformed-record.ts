import type { LogRecord } from '../ports.ts'
import { type DeliveryState, parseDeliveryState } from './delivery-state.ts'

/**
 * Reads the state of a delivery from a retry record with malformed headers; `undefined` without a
 * valid destination, message id or origin.
 */
export function recoveredState({ headers, timestamp }: LogRecord): DeliveryState | undefined {
  const at = String(Math.max(0, timestamp))
  return parseDeliveryState({
    ...headers,
    ...{ attempt: '0', deferrals: '0', 'started-at': at, deadline: at, 'not-before': at },
    ...{ outcomes: '', 'refused-webhooks': '', round: /^\d{1,9}$/.exec(headers['round'] ?? '')?.[0] ?? '0' },
  })
}
