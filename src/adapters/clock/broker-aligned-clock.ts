import { type EpochMs, epochMs } from '../../core/time.ts'
import type { BrokerClockReading } from '../kafka/producer/broker-clock-reading.ts'

/** The clocks of a machine, in milliseconds. */
export interface TimeSources {
  /** Milliseconds since 1970. An operator or a time server can set this clock to any value. */
  readonly wall: () => number
  /** Stops while the machine is suspended. */
  readonly monotonic: () => number
  /** Continues while the machine is suspended. */
  readonly uptime: () => number
}

export interface BrokerAlignedClock {
  /**
   * The time of this machine plus a correction. The correction changes when the times that brokers
   * report differ from the corrected time by more than 0.5 s.
   */
  now(): EpochMs
  /** Milliseconds by which the machine's wall clock is ahead of `now`. */
  clockAheadMs(): number
  /**
   * Adds a broker's report of the time at which it appended a record. The median of the latest
   * reports corrects `now`.
   */
  learn(reading: BrokerClockReading): void
  /** When the last report of a broker arrived, in monotonic milliseconds. */
  learnedAt(): number
}

/**
 * The largest change of the wall clock that `now` follows: a step in milliseconds, plus a drift in
 * milliseconds per millisecond. Time servers cause changes up to this size.
 */
const toleratedStepMs = 1_000
const toleratedDriftPerMs = 0.001
/**
 * If the brokers' reports differ from the corrected time by more than this, the time is corrected
 * again. Clocks that are set by time servers differ by less.
 */
const toleratedSkewMs = 500
/**
 * Number of latest reports of brokers whose median is used: two wrong reports of five have no
 * effect.
 */
const readingsKept = 5

/**
 * Creates a clock with the brokers' time. Between their reports, it follows the wall clock, but
 * ignores steps over 1 s, except after a suspension.
 */
export function createBrokerAlignedClock(sources: TimeSources): BrokerAlignedClock {
  const { wall, monotonic } = sources
  const machine = createMachineTime(sources)
  /** Milliseconds by which the brokers' clocks are assumed to be ahead of the machine's time. */
  let skew = 0
  let learnedAt = Number.NEGATIVE_INFINITY
  /**
   * For each of the latest reports, the smallest and the largest possible skew in milliseconds. The
   * broker read its clock at an unknown time between the request and its response.
   */
  const readings: { readonly min: number; readonly max: number }[] = []

  function learn({ sentAt, answeredAt, appendedAt }: BrokerClockReading): void {
    const at = monotonic()
    const now = machine.now()
    // Brokers report whole milliseconds, so the true time may be almost 1 ms later.
    const range = { min: appendedAt - (now - at + answeredAt), max: appendedAt + 1 - (now - at + sentAt) }
    learnedAt = answeredAt
    readings.push(range)
    if (readings.length > readingsKept) readings.shift()
    const wanted = median(readings.map(({ min, max }) => Math.min(Math.max(skew, min), max)))
    if (Math.abs(wanted - skew) > toleratedSkewMs) skew = wanted
  }

  const now = (): EpochMs => epochMs(Math.floor(machine.now() + skew))

  return {
    now,
    learn,
    learnedAt: () => learnedAt,
    clockAheadMs() {
      const time = now()
      const off = wall() - time
      return machine.isFollowed() && skew === 0 ? 0 : Math.round(off)
    },
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[(values.length - 1) >> 1] ?? 0
}

/** Creates the time of the machine: the wall clock without steps beyond the tolerated limits. */
function createMachineTime({ wall, monotonic, uptime }: TimeSources) {
  /**
   * Milliseconds by which the wall clock (`ahead`) and the uptime (`suspended`) are ahead of the
   * monotonic clock.
   */
  let ahead = wall() - monotonic()
  let suspended = uptime() - monotonic()
  let lookedAt = monotonic()
  /** The ignored step of the wall clock, in milliseconds; 0 if none. */
  let ignored = 0

  function look(seen: number, elapsed: number): void {
    const tolerance = toleratedStepMs + (elapsed - lookedAt) * toleratedDriftPerMs
    lookedAt = elapsed
    const step = seen - elapsed - ahead - ignored
    // Reading the uptime means reading a file, so it is read only after a step of the wall clock.
    if (Math.abs(step) > tolerance) follow(slept(elapsed), step, tolerance)
    const off = seen - elapsed - ahead
    ignored = Math.abs(off) > tolerance ? off : 0
    if (ignored === 0) ahead += off
  }

  const slept = (elapsed: number): number => uptime() - elapsed - suspended

  /** Follows a step of the wall clock if it equals the time for which the machine was suspended. */
  function follow(sleptMs: number, step: number, tolerance: number): void {
    if (Math.abs(step - sleptMs) > tolerance) return
    ahead += sleptMs
    suspended += sleptMs
  }

  return {
    now(): number {
      const seen = wall()
      const elapsed = monotonic()
      look(seen, elapsed)
      return ignored === 0 ? seen : elapsed + ahead
    },
    isFollowed(): boolean {
      look(wall(), monotonic())
      return ignored === 0
    },
  }
}

/**
 * Creates a clock in milliseconds that never goes backwards, and includes suspensions of the
 * machine. It also jumps forward with the wall clock, so a lease that it measures may end too
 * early, but never too late.
 */
export function createBootTime({ wall, monotonic }: Pick<TimeSources, 'wall' | 'monotonic'>): () => number {
  let ahead = wall() - monotonic()
  let skipped = 0
  return () => {
    const elapsed = monotonic()
    const jump = wall() - elapsed - ahead
    ahead += jump
    if (jump > toleratedStepMs) skipped += jump
    return elapsed + skipped
  }
}
