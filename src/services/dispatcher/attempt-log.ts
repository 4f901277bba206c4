import { attemptFacts, type EndedAttempt } from '../../core/delivery/attempt-facts-and-record.ts'
import type { Attempt, Decision } from '../../core/delivery/decide.ts'
import type { Clock, Logger } from '../../core/ports.ts'
import type { EpochMs } from '../../core/time.ts'
import type { AttemptRecords } from './attempt-records.ts'
import { coalesce } from './collect-items-per-tick.ts'
import type { Delivery } from './delivery.ts'

/** One in this number of successful attempts is logged at level info, the others at level debug. */
const logOneIn = 1_000

interface Deps {
  readonly clock: Clock
  readonly logger: Logger
  /** `undefined` when attempts are not recorded. */
  readonly attemptRecords: AttemptRecords | undefined
}

/** Logs an attempt, and records it in the attempts topic if the configuration wants it. */
export type LogAttempt = (delivery: Delivery, attempt: Attempt, decision: Decision, elapsedMs: number) => void

interface Waiting {
  readonly ended: EndedAttempt
  readonly endedAt: EpochMs
  readonly isInfo: boolean
  readonly isRecorded: boolean
}

/**
 * Logs attempts in batches, one for each tick. This saves CPU time while an endpoint fails
 * (docs/decisions/0043-hot-path-rules.md).
 */
export function createAttemptLog({ clock, logger, attemptRecords }: Deps): LogAttempt {
  let delivered = 0
  const writeSoon = coalesce<Waiting>(clock, waiting => waiting.forEach(write))

  function write({ ended, endedAt, isInfo, isRecorded }: Waiting): void {
    const facts = attemptFacts(ended, endedAt)
    if (isInfo) logger.info(facts, 'delivery attempted')
    else logger.debug(facts, 'delivery attempted')
    if (isRecorded) attemptRecords?.attempt(facts, ended, endedAt)
  }

  return ({ of, carried, event }, attempt, decision, elapsedMs) => {
    const isSample = decision.kind === 'delivered' && delivered++ % logOneIn === 0
    const isInfo = decision.kind !== 'delivered' || isSample
    const isRecorded = attemptRecords?.wants({ carried, attempt, decision }) === true
    if (!isInfo && !isRecorded && !logger.isLevelEnabled('debug')) return
    const ended = { carried, headers: of.record.headers, event, attempt, decision, elapsedMs }
    writeSoon({ ended, endedAt: clock.now(), isInfo, isRecorded })
  }
}
