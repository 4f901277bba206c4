import { type EpochMs, epochMs } from '../core/units.ts'

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
  now(): EpochMs
  /** How far the machine's clock has been set since this began, and not followed; milliseconds, 0: not at all. */
  offset(): number
}

/** What a clock is adjusted by in small steps, and how much slower or faster it is made for that, is followed. */
const leastStepMs = 1_000
const steepest = 0.001

/**
 * The time of day as it was at the start, gone on evenly: retries are durations, and a clock that somebody sets by an hour would make them an
 * hour early, or an hour late. What is adjusted smoothly is followed, and so is the time that the machine was suspended; a step is not, until
 * it is taken back or the process starts anew.
 */
export function createSteadyTime({ wall, monotonic, uptime }: TimeSources): SteadyTime {
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
    now() {
      const seen = wall()
      const elapsed = monotonic()
      look(seen, elapsed)
      return epochMs(ignored === 0 ? seen : Math.floor(elapsed + ahead))
    },
    offset() {
      look(wall(), monotonic())
      return Math.round(ignored)
    },
  }
}
