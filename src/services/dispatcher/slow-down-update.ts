import { type Attempt, retryAfterOf } from '../../core/delivery/decide.ts'
import type { Logger } from '../../core/ports.ts'
import type { EpochMs } from '../../core/time.ts'
import type { StartedAttempt } from './make-attempt.ts'

/**
 * Updates the pace and the pause of a destination after an attempt. If one webhook has accepted the
 * event, the destination is not slowed down, even if another webhook responded with 429.
 */
export function updateSlowDown(
  { logger }: { readonly logger: Logger },
  { delivery, startedAt }: StartedAttempt,
  attempt: Attempt,
  { endedAt, now }: { readonly endedAt: number; readonly now: EpochMs },
): void {
  const { slowDown, destination } = delivery.target
  const { calls } = attempt
  if (calls.some(({ outcome }) => outcome === 'delivered')) return slowDown.delivered(endedAt)
  const wasSlowed = slowDown.paceAt(endedAt) !== undefined
  if (calls.some(({ outcome }) => outcome === 'http_429')) slowDown.refused(startedAt, endedAt)
  const retryAfterMs = retryAfterOf(attempt, now)
  if (retryAfterMs > 0) slowDown.pause(retryAfterMs, endedAt)
  const perSecond = slowDown.paceAt(endedAt)
  if (wasSlowed || perSecond === undefined) return
  logger.info(
    { destination, perSecond: Math.round(perSecond * 10) / 10 },
    'endpoint responded with 429, so this process limits its attempts at this destination to "perSecond" per second; it adapts the limit to later responses, and removes it after 10 minutes without a 429',
  )
}
