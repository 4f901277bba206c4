import { type EpochMs, epochMs } from '../../core/units.ts'
import type { AppendReading } from '../kafka/producer/produce-request.ts'

/** What a machine says of time, in milliseconds. */
export interface TimeSources {
  /** Since 1970; anybody may set it. */
  readonly wall: () => number
  /** Evenly, since any moment; stands still while the machine is suspended. */
  readonly monotonic: () => number
  /** Evenly, since any moment, and goes on while the machine is suspended. */
  readonly uptime: () => number
}

export interface SteadyTime {
  /** The brokers' time, as far as they have told it; else the machine's. */
  now(): EpochMs
  /** How far the machine's clock is ahead of `now`; milliseconds, 0: it is followed. */
  offset(): number
  /** Takes in what a broker says of its time. */
  learn(reading: AppendReading): void
  /** When a broker last said so, in monotonic milliseconds. */
  learnedAt(): number
}

/** What a clock is adjusted by in small steps, and how much slower or faster it is made for that, is followed. */
const leastStepMs = 1_000
const steepest = 0.001
/** Clocks that are kept by a time server differ by less: so far the machine's own, which is smooth, is good enough. */
const toleratedSkewMs = 500
/** One broker of three whose clock is wrong is outvoted. */
const readingsKept = 5

/**
 * The time of day that the processes of an installation share: that of the brokers, by which records are appended. Between their answers it continues
 * evenly from the machine's clock at the start: retries are durations, and a clock that is set by an hour would make them an hour early or
 * late. Smooth adjustments of the machine's clock and suspensions of the machine count; a step of the clock does not.
 */
export function createSteadyTime(sources: TimeSources): SteadyTime {
  const { wall, monotonic } = sources
  const machine = createMachineTime(sources)
  /** How far the brokers are ahead of the machine's time. */
  let skew = 0
  /** The smallest and largest skew that each of the last readings allows. */
  let learnedAt = Number.NEGATIVE_INFINITY
  const readings: { readonly least: number; readonly largest: number }[] = []

  function learn({ sentAt, answeredAt, appended }: AppendReading): void {
    const at = monotonic()
    const now = machine.now()
    // Brokers tell whole milliseconds: the true time may be almost one later.
    const range = { least: appended - (now - at + answeredAt), largest: appended + 1 - (now - at + sentAt) }
    learnedAt = answeredAt
    readings.push(range)
    if (readings.length > readingsKept) readings.shift()
    const wanted = median(readings.map(({ least, largest }) => Math.min(Math.max(skew, least), largest)))
    if (Math.abs(wanted - skew) > toleratedSkewMs) skew = wanted
  }

  const now = (): EpochMs => epochMs(Math.floor(machine.now() + skew))

  return {
    now,
    learn,
    learnedAt: () => learnedAt,
    offset() {
      const time = now()
      const off = wall() - time
      return machine.isFollowed() && skew === 0 ? 0 : Math.round(off)
    },
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[(values.length - 1) >> 1] ?? 0
}

/** The machine's time of day at the start, continued evenly. */
function createMachineTime({ wall, monotonic, uptime }: TimeSources) {
  /** Of what the wall clock, and the uptime, are ahead of the monotonic clock. */
  let ahead = wall() - monotonic()
  let suspended = uptime() - monotonic()
  let lookedAt = monotonic()
  /** The step that is not followed. */
  let ignored = 0

  function look(seen: number, elapsed: number): void {
    const tolerance = leastStepMs + (elapsed - lookedAt) * steepest
    lookedAt = elapsed
    const step = seen - elapsed - ahead - ignored
    // Asked once for each step: it is a file that is read.
    if (Math.abs(step) > tolerance) follow(slept(elapsed), step, tolerance)
    const off = seen - elapsed - ahead
    ignored = Math.abs(off) > tolerance ? off : 0
    if (ignored === 0) ahead += off
  }

  const slept = (elapsed: number): number => uptime() - elapsed - suspended

  /** The same time is missing from the monotonic clock. */
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
 * Milliseconds that only ever grow and go on while the machine is suspended. Suspension shows as a jump of the wall clock, whether the machine
 * slept by itself or was paused from outside; so does a clock that is set ahead, which is counted too: for leases more is the safe side.
 */
export function createBootTime({ wall, monotonic }: Pick<TimeSources, 'wall' | 'monotonic'>): () => number {
  let ahead = wall() - monotonic()
  let skipped = 0
  return () => {
    const elapsed = monotonic()
    const jump = wall() - elapsed - ahead
    ahead += jump
    if (jump > leastStepMs) skipped += jump
    return elapsed + skipped
  }
}
