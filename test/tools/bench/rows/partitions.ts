import { fullTopicsOutcome } from '../delivery-cost-by-installation-size.ts'
import type { Bench, Outcome } from './row.ts'

const sizes = [12, 60, 240]

/** Measures the CPU time of a delivery when one process has many partitions. */
export const partitionsRow = (bench: Bench): Promise<Outcome> =>
  fullTopicsOutcome(
    bench,
    sizes.map(partitions => ({ name: `${partitions} partitions`, options: { partitions } })),
    'CPU per delivery, relative to 12 partitions',
  )
