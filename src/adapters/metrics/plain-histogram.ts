import type { LabelSet } from '../../core/metrics/metric-spec-builders.ts'
import type { TracedHistogram } from '../../core/metrics/metrics.ts'
import type { Exemplars } from './exemplars.ts'
import type { ExposedInstrument, ExpositionFormat } from './exposition-format-interface.ts'

interface Deps {
  readonly name: string
  readonly help: string
  /** The upper bounds of the buckets, in ascending order. */
  readonly bounds: readonly number[]
  /** `undefined` when the histogram has no exemplars. */
  readonly exemplars: Exemplars | undefined
}

/**
 * A histogram without labels. It costs less CPU time than prom-client's histogram, which formats
 * the bucket bounds as text at each observation.
 */
export class PlainHistogram implements TracedHistogram<LabelSet>, ExposedInstrument {
  readonly #deps: Deps
  /** The count of each bucket, not cumulative. The last bucket has no upper bound. */
  readonly #counts: number[]
  #sum = 0

  constructor(deps: Deps) {
    this.#deps = deps
    this.#counts = [...deps.bounds, Number.POSITIVE_INFINITY].map(() => 0)
  }

  observe(_labels: object, value: number, traceId?: string): void {
    const { bounds, exemplars } = this.#deps
    let bucket = 0
    while (bucket < bounds.length && value > (bounds[bucket] as number)) bucket++
    ;(this.#counts[bucket] as number)++
    this.#sum += value
    if (traceId !== undefined) exemplars?.note(bucket, value, traceId)
  }

  text({ head, hasExemplars }: ExpositionFormat): string {
    const { name, help, bounds, exemplars } = this.#deps
    let total = 0
    const lines = this.#counts.map((count, bucket) => {
      total += count
      const exemplar = hasExemplars ? (exemplars?.lineSuffixOf(bucket) ?? '') : ''
      return `${name}_bucket{le="${bounds[bucket] ?? '+Inf'}"} ${total}${exemplar}\n`
    })
    return `${head(name, help, 'histogram')}\n${lines.join('')}${name}_sum ${this.#sum}\n${name}_count ${total}\n`
  }
}
