import { deferralTier } from '../../../src/core/delivery/schedule.ts'
import { standingTiers } from '../../../src/core/topics.ts'
import { durationMs } from '../../../src/core/units.ts'

/** Destinations that fail for some hours, after which they answer again. */
export interface Outage {
  /** Deliveries a second that are for them. */
  readonly perSecond: number
  readonly hours: number
  /** How long a delivery may be tried: `delivery.window`. */
  readonly windowHours: number
}

/** What an outage does to the retry topics. */
export interface Course {
  /** Records that wait when the endpoints answer again. */
  readonly waiting: number
  /** Records that were written to retry topics in all. */
  readonly parked: number
  /** The most in a second, over a minute. */
  readonly mostParkedPerSecond: number
  /** Of what the endpoints get that they have missed, the most in a second, over a minute; what is new comes on top. */
  readonly mostReleasedPerSecond: number
  /** Minutes from the end of the outage to the last of what waited. */
  readonly lastAfterMinutes: number
  /** Records whose window was over before. */
  readonly deadLettered: number
}

const minute = 60_000
/** Records that come within so many milliseconds go the same way. */
const cohortMs = 1_000

/**
 * The way of every record through the retry topics, by the dispatcher's own rule for what it puts off. The endpoints fail whatever they are
 * sent, so that their breakers are open: what comes for them waits without attempts, 10 s, 30 s, 1 min, then 5 min again and again, until it
 * comes up after the end. The few probes and the attempt at the end of a window are too few to count.
 */
export function courseOf({ perSecond, hours, windowHours }: Outage): Course {
  const [end, window] = [hours, windowHours].map(each => Math.round(each * 60 * minute)) as [number, number]
  const inCohort = (perSecond * cohortMs) / 1_000
  const [parked, released] = [new Counts(), new Counts()]
  let [waiting, deadLettered, last] = [0, 0, end]
  for (let came = 0; came < end; came += cohortMs) {
    let [at, deferrals] = [came, 0]
    while (at < end && at < came + window) {
      parked.add(at, inCohort)
      at += deferralTier(deferrals++, durationMs(came + window - at), standingTiers)
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
    mostParkedPerSecond: parked.mostPerSecond,
    mostReleasedPerSecond: released.mostPerSecond,
    lastAfterMinutes: (last - end) / minute,
    deadLettered,
  }
}

/** Records by the minute. */
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
