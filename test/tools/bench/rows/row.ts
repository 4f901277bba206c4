import type { Finding } from '../bounds.ts'
import type { Forwarder } from '../forwarders/forwarder.ts'
import type { Profiled } from '../profile-summary.ts'
import type { Stage } from '../test-bed.ts'

/** Environment and options of a row of the bench, which is one experiment, such as `delivery`. */
export interface Bench {
  readonly stage: Stage
  /** Number of repetitions of each measurement. */
  readonly runs: number
  /** Factor by which the numbers of events and the seconds of load are multiplied. */
  readonly scale: number
  /** Number of records of the largest backlog. */
  readonly backlog: number
  /**
   * Transports (HTTP clients) of Hookline to measure. The first one is used where the transport
   * makes no difference.
   */
  readonly transports: readonly string[]
  readonly peers: readonly Forwarder[]
  readonly profile: boolean
  /** Reports progress. */
  readonly say: (line: string) => void
}

export interface Outcome {
  readonly findings: readonly Finding[]
  /** All measured figures. Each entry is one line of a table in the report. */
  readonly figures: readonly Figures[]
  /** Summaries of CPU profiles, if the bench was started with PROFILE=1. */
  readonly profiles?: readonly Profiled[]
}

export type Figures = Readonly<Record<string, string | number>>

export type Row = (bench: Bench) => Promise<Outcome>

/**
 * Scales a number of events. The minimum is 200, so that each of the 12 default partitions has
 * events, and some events are in the measured part of a run.
 */
export const scaled = ({ scale }: Bench, count: number): number => Math.max(200, Math.round(count * scale))

/**
 * Scales a duration in seconds. The minimum is four seconds, because percentiles of a shorter load
 * mean little.
 */
export const scaledSeconds = ({ scale }: Bench, seconds: number): number => Math.max(4, Math.round(seconds * scale))
