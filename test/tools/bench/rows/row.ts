import type { Finding } from '../bounds.ts'
import type { Forwarder } from '../forwarders/forwarder.ts'
import type { Profiled } from '../profile-summary.ts'
import type { Stage } from '../test-bed.ts'

/** Environment and options of a row of the bench (one experiment, for example `delivery`). */
export interface Bench {
  readonly stage: Stage
  readonly runs: number
  /** Factor for the numbers of events and the seconds of load. */
  readonly scale: number
  readonly backlog: number
  /** HTTP clients to measure. The first one is used where the transport makes no difference. */
  readonly transports: readonly string[]
  readonly peers: readonly Forwarder[]
  readonly profile: boolean
  readonly say: (line: string) => void
}

export interface Outcome {
  readonly findings: readonly Finding[]
  readonly figures: readonly Figures[]
  readonly profiles?: readonly Profiled[]
}

export type Figures = Readonly<Record<string, string | number>>

export type Row = (bench: Bench) => Promise<Outcome>

/**
 * Scales a number of events. The minimum of 200 gives events to each of the 12 default partitions
 * and to the measured part of a run.
 */
export const scaled = ({ scale }: Bench, count: number): number => Math.max(200, Math.round(count * scale))

/** Scales a duration in seconds. Percentiles of less than four seconds of load mean little. */
export const scaledSeconds = ({ scale }: Bench, seconds: number): number => Math.max(4, Math.round(seconds * scale))
