import { fullTopicsOutcome } from '../delivery-cost-by-installation-size.ts'
import { shown } from '../report.ts'
import type { Bench, Outcome } from './row.ts'

const sizes = [1, 10, 100, 1_000]

/** Measures the CPU time per delivery when many destinations get the events in turn. */
export const destinationsRow = (bench: Bench): Promise<Outcome> =>
  fullTopicsOutcome(
    bench,
    sizes.map(destinations => ({
      name: destinations === 1 ? '1 destination' : `${shown(destinations)} destinations`,
      options: { sources: destinations },
      targetsOf: ({ sourceIds }, url) => sourceIds.map((sourceId, index) => ({ sourceId, url: `${url}/${index}` })),
    })),
    'CPU per delivery, relative to 1 destination',
  )
