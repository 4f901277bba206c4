import { attemptFacts, type EndedAttempt } from '../../core/delivery/attempt-facts.ts'
import type { Attempt, Decision } from '../../core/delivery/decide.ts'
import type { Clock, Logger } from '../../core/ports.ts'
import type { EpochMs } from '../../core/units.ts'
import type { RecordAttempt } from './attempt-records.ts'
import { coalesce } from './coalesce.ts'
import type { Delivery } from './delivery.ts'

/** Of the attempts that delivered, one in so many is logged at info, the others at debug. */
const logOneIn = 1_000

interface Deps {
  readonly clock: Clock
  readonly logger: Logger
  /** Undefined: attempts are not recorded. */
  readonly recordAttempt: RecordAttempt | undefined
}

/** Writes the one wide line of an attempt: whoever asks what happened to a message finds it here. */
export type LogAttempt = (delivery: Delivery, attempt: Attempt, decision: Decision, elapsedMs: number) => void

interface Waiting {
  readonly ended: EndedAttempt
  readonly endedAt: EpochMs
  readonly isInfo: boolean
}

/**
 * While an endpoint fails there is a line for each attempt, and one after the other they take half of what they take one by one between
 * other work (decision 43): those of a turn of the event loop are written at its end.
 */
export function createAttemptLog({ clock, logger, recordAttempt }: Deps): LogAttempt {
  let delivered = 0
  const writeSoon = coalesce<Waiting>(clock, waiting => waiting.forEach(write))

  function write({ ended, endedAt, isInfo }: Waiting): void {
    const facts = attemptFacts(ended, endedAt)
    if (isInfo) logger.info(facts, 'delivery attempted')
    else logger.debug(facts, 'delivery attempted')
    recordAttempt?.(facts, ended.attempt.at)
  }

  return ({ of, carried, event }, attempt, decision, elapsedMs) => {
    const isSample = decision.kind === 'delivered' && delivered++ % logOneIn === 0
    const isInfo = decision.kind !== 'delivered' || isSample
    if (!isInfo && recordAttempt === undefined && !logger.isLevelEnabled('debug')) return
    const ended = { carried, headers: of.record.headers, event, attempt, decision, elapsedMs }
    writeSoon({ ended, endedAt: clock.now(), isInfo })
  }
}
