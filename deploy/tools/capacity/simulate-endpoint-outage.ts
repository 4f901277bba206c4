import { deferralTier } from '../../../src/core/delivery/retry-tier.ts'
import { fixedTiers } from '../../../src/core/fixed-retry-tiers.ts'
import { durationMs } from '../../../src/core/time.ts'

/** An outage: destinations fail for some hours and then work again. */
export interface Outage {
  /** Deliveries per second to the failing destinations. */
  readonly perSecond: number
  readonly hours: number
  readonly windowHours: number
}

/** The effect of an outage on the retry topics. */
export interface OutageEffect {
  readonly waiting: number
  /** Number of retry records that are written during the outage. */
  readonly parked: number
  /** The rate is averaged over a minute. */
  readonly maxRetryRecordsPerSecond: number
  /**
   * Maximum rate at which deliveries that waited at the end of the outage become due, averaged over
   * a minute.
   */
  readonly maxReleasedPerSecond: number
  /** Minutes from the end of the outage until all deliveries that waited then are due. */
  readonly lastAfterMinutes: number
  /** Number of deliveries whose retry window ended during the outage. */
  readonly deadLettered: number
}

const minute = 60_000
/** Deliveries that begin in the same time span of this length are simulated together. */
const cohortMs = 1_000

/**
 * Simulates the retry topics while all circuit breakers are open. Ignores probes and the attempt at
 * the end of a retry window.
 */
export function simulateOutage({ perSecond, hours, windowHours }: Outage): OutageEffect {
  const [end, window] = [hours, windowHours].map(each => Math.round(each * 60 * minute)) as [number, number]
  const inCohort = (perSecond * cohortMs) / 1_000
  const [parked, released] = [new Counts(), new Counts()]
  let [waiting, deadLettered, last] = [0, 0, end]
  for (let came = 0; came < end; came += cohortMs) {
    let [at, deferrals] = [came, 0]
    while (at < end && at < came + window) {
      parked.add(at, inCohort)
      at += deferralTier(deferrals++, durationMs(came + window - at), fixedTiers)
    }
    if (at < end) {
      deadLettered += inCohort
      continue
    }
    waiting += inCohort
    released.add(at, inCohort)
    last = Math.max(last, at)
  }
  return {
    waiting,
    parked: parked.total,
    maxRetryRecordsPerSecond: parked.mostPerSecond,
    maxReleasedPerSecond: released.mostPerSecond,
    lastAfterMinutes: (last - end) / minute,
    deadLettered,
  }
}

/** Counts records by minute. */
class Counts {
  total = 0
  readonly #minutes = new Map<number, number>()

  add(atMs: number, records: number): void {
    const key = Math.floor(atMs / minute)
    this.#minutes.set(key, (this.#minutes.get(key) ?? 0) + records)
    this.total += records
  }

  get mostPerSecond(): number {
    return Math.max(0, ...this.#minutes.values()) / 60
  }
}
