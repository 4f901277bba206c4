import type { LabelSet } from '../../core/metrics/spec.ts'
import type { TracedHistogram } from '../../core/metrics.ts'
import type { Exemplars } from './exemplars.ts'
import type { Format, Shown } from './format.ts'

interface Deps {
  readonly name: string
  readonly help: string
  /** Upper bounds, ascending. */
  readonly bounds: readonly number[]
  /** Undefined: its observations lead to no traces. */
  readonly exemplars: Exemplars | undefined
}

/**
 * A histogram without labels that counts and shows by itself. prom-client keeps its counts under the texts of the bounds, which it makes at every
 * observation: on the way of every delivery that is two times as much as all its counters.
 */
export class Buckets implements TracedHistogram<LabelSet>, Shown {
  readonly #deps: Deps
  /** Of each bucket alone, the last one without a bound. */
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

  text({ head, hasExemplars }: Format): string {
    const { name, help, bounds, exemplars } = this.#deps
    let total = 0
    const lines = this.#counts.map((count, bucket) => {
      total += count
      const exemplar = hasExemplars ? (exemplars?.of(bucket) ?? '') : ''
      return `${name}_bucket{le="${bounds[bucket] ?? '+Inf'}"} ${total}${exemplar}\n`
    })
    return `${head(name, help, 'histogram')}\n${lines.join('')}${name}_sum ${this.#sum}\n${name}_count ${total}\n`
  }
}
