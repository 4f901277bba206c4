import { type AttemptFacts, attemptFacts } from '../../core/delivery/attempt-facts.ts'
import type { Attempt, Decision } from '../../core/delivery/decide.ts'
import type { Clock, Logger } from '../../core/ports.ts'
import type { RecordAttempt } from './attempt-records.ts'
import type { Delivery } from './delivery.ts'

/** Of the attempts that delivered, one in so many is logged at info, the others at debug. */
const logOneIn = 1_000

interface Deps {
  readonly clock: Clock
  readonly logger: Logger
  readonly recordAttempt?: RecordAttempt | undefined
}

/** Writes the one wide line of an attempt: whoever asks what happened to a message finds it here. */
export type LogAttempt = (delivery: Delivery, attempt: Attempt, decision: Decision, elapsedMs: number) => void

export function createAttemptLog({ clock, logger, recordAttempt }: Deps): LogAttempt {
  let delivered = 0
  return ({ of, carried, event }, attempt, decision, elapsedMs) => {
    const isSample = decision.kind === 'delivered' && delivered++ % logOneIn === 0
    const isInfo = decision.kind !== 'delivered' || isSample
    if (!isInfo && recordAttempt === undefined && !logger.isLevelEnabled('debug')) return
    const facts: AttemptFacts = attemptFacts(
      { carried, headers: of.record.headers, event, attempt, decision, elapsedMs },
      clock.now(),
    )
    if (isInfo) logger.info(facts, 'delivery attempted')
    else logger.debug(facts, 'delivery attempted')
    recordAttempt?.(facts, attempt.at)
  }
}
