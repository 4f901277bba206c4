import type { Attempt, Decision } from '../../core/delivery/decide.ts'
import type { Clock, Logger } from '../../core/ports.ts'
import type { Delivery } from './delivery.ts'

/** Of the attempts that delivered, one in so many is logged at info, the others at debug. */
const logOneIn = 1_000

/** Writes the one wide line of an attempt: whoever asks what happened to a message finds it here. */
export type LogAttempt = (delivery: Delivery, attempt: Attempt, decision: Decision, elapsedMs: number) => void

export function createAttemptLog({ clock, logger }: { readonly clock: Clock; readonly logger: Logger }): LogAttempt {
  let delivered = 0
  return ({ carried, event }, attempt, decision, elapsedMs) => {
    const isSample = decision.kind === 'delivered' && delivered++ % logOneIn === 0
    const isInfo = decision.kind !== 'delivered' || isSample
    if (!isInfo && !logger.isLevelEnabled('debug')) return
    const facts = {
      decision: decision.kind,
      ...('reason' in decision && { reason: decision.reason }),
      ...(decision.kind === 'retried' && { nextAttemptInMs: decision.carried.notBefore - clock.now() }),
      destination: carried.destination,
      source: event.sourceId,
      messageId: carried.messageId,
      type: event.message.type,
      attempt: attempt.number,
      outcomes: Object.fromEntries(attempt.calls.map(call => [call.webhook.label, call.outcome])),
      elapsedMs: Math.round(elapsedMs),
    }
    if (isInfo) logger.info(facts, 'delivery attempted')
    else logger.debug(facts, 'delivery attempted')
  }
}
