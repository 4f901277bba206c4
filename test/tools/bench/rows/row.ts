import type { Finding } from '../bounds.ts'
import type { Forwarder } from '../forwarders/forwarder.ts'
import type { Profiled } from '../profile-summary.ts'
import type { Stage } from '../test-bed.ts'

/** Environment of a row. */
export interface Bench {
  readonly stage: Stage
  /** Number of repetitions of each measurement. */
  readonly runs: number
  /** Factor on numbers of events and seconds of load. */
  readonly scale: number
  /** Number of records of the largest backlog. */
  readonly backlog: number
  /** Transports of Hookline. The first one is used where the transport makes no difference. */
  readonly transports: readonly string[]
  readonly peers: readonly Forwarder[]
  readonly profile: boolean
  /** Reports progress. */
  readonly say: (line: string) => void
}

export interface Outcome {
  readonly findings: readonly Finding[]
  /** All measured figures, one per line. */
  readonly figures: readonly Figures[]
  /** Where the CPU time went. */
  readonly profiles?: readonly Profiled[]
}

export type Figures = Readonly<Record<string, string | number>>

export type Row = (bench: Bench) => Promise<Outcome>

/** Scales a number of events. At least one event remains for each partition and each mark. */
export const scaled = ({ scale }: Bench, count: number): number => Math.max(200, Math.round(count * scale))

/** Scales a duration. At least four seconds remain, for meaningful percentiles. */
export const scaledSeconds = ({ scale }: Bench, seconds: number): number => Math.max(4, Math.round(seconds * scale))
