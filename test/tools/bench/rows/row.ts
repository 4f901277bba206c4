import type { Finding } from '../bars.ts'
import type { Forwarder } from '../forwarders/forwarder.ts'
import type { Profiled } from '../profile.ts'
import type { Stage } from '../stage.ts'

/** What a row measures with. */
export interface Bench {
  readonly stage: Stage
  /** How often what is compared is repeated; medians count. */
  readonly runs: number
  /** What counts of events and seconds of load are multiplied with. */
  readonly scale: number
  /** Records of the largest backlog that is measured. */
  readonly backlog: number
  /** Of Hookline; the first one stands for all where the transport makes no difference. */
  readonly transports: readonly string[]
  readonly peers: readonly Forwarder[]
  readonly profile: boolean
  /** What is being done, for whoever watches. */
  readonly say: (line: string) => void
}

export interface Outcome {
  readonly findings: readonly Finding[]
  /** Everything that was measured, a line each. */
  readonly figures: readonly Figures[]
  /** Where the CPU time went. */
  readonly profiles?: readonly Profiled[]
}

export type Figures = Readonly<Record<string, string | number>>

export type Row = (bench: Bench) => Promise<Outcome>

/** At least one event for each partition and each mark. */
export const scaled = ({ scale }: Bench, count: number): number => Math.max(200, Math.round(count * scale))

/** A load long enough that its percentiles mean something. */
export const scaledSeconds = ({ scale }: Bench, seconds: number): number => Math.max(4, Math.round(seconds * scale))
