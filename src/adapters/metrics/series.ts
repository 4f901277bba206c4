import type { Gauge, TracedHistogram } from '../../core/metrics/metrics.ts'
import { type LabelSet, overflowLabelValue, seriesBudget } from '../../core/metrics/spec.ts'
import type { Exemplars, ExposedInstrument, ExpositionFormat } from './exposition.ts'

interface Deps {
  readonly name: string
  readonly help: string
  /** The upper bounds of the buckets, in ascending order. */
  readonly bounds: readonly number[]
  /** `undefined` when the histogram has no exemplars. */
  readonly exemplars: Exemplars | undefined
}

/**
 * A histogram without labels. prom-client formats the bucket bounds as text at each observation.
 * For a delivery, that costs twice as much as all its counters.
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
      const exemplar = hasExemplars ? (exemplars?.of(bucket) ?? '') : ''
      return `${name}_bucket{le="${bounds[bucket] ?? '+Inf'}"} ${total}${exemplar}\n`
    })
    return `${head(name, help, 'histogram')}\n${lines.join('')}${name}_sum ${this.#sum}\n${name}_count ${total}\n`
  }
}

export type Labels = Readonly<Record<string, string>>

/** The labels of a metric whose values may be replaced by `_other`, in order of definition. */
export const foldingLabels = (labels: LabelSet): readonly string[] =>
  Object.entries(labels).flatMap(([name, values]) => ('folds' in values && values.folds ? [name] : []))

/**
 * Returns the label set, followed by sets in which one more foldable label each is replaced by
 * `_other`. The last label, which is the most detailed one, is replaced first.
 */
export function foldings(labels: Labels, folding: readonly string[]): readonly Labels[] {
  const steps = [labels]
  for (const name of folding.toReversed()) steps.push({ ...steps.at(-1), [name]: overflowLabelValue })
  return steps
}

/**
 * Limits the number of series whose labels come from the configuration. It is first come, first
 * served: a destination that has a series keeps it.
 */
export class SeriesBudget {
  #used = 0
  /** Called for each label set that is over the limit. */
  readonly #onFolded: () => void

  constructor(onFolded: () => void) {
    this.#onFolded = onFolded
  }

  get used(): number {
    return this.#used
  }

  /**
   * Whether one more series fits. `isDetailed`: the label set still has a label, besides the
   * destination, that can be folded.
   */
  hasRoom(isDetailed: boolean): boolean {
    return this.#used < (isDetailed ? seriesBudget.detailed : seriesBudget.folding)
  }

  take(): void {
    this.#used += 1
  }

  folded(): void {
    this.#onFolded()
  }
}

/**
 * Wraps a gauge so that label sets over the limit are not shown. They are not folded into `_other`,
 * because a sum of states has no meaning.
 */
export function limitSeries(gauge: Gauge<LabelSet>, names: readonly string[], budget: SeriesBudget): Gauge<LabelSet> {
  const isShown = new Map<string, boolean>()
  const admit = (): boolean => {
    const hasRoom = budget.hasRoom(false)
    if (hasRoom) budget.take()
    else budget.folded()
    return hasRoom
  }
  return {
    set(labels, value) {
      const key = JSON.stringify(names.map(name => labels[name]))
      const shown = isShown.get(key) ?? admit()
      isShown.set(key, shown)
      if (shown) gauge.set(labels, value)
    },
    reset: () => gauge.reset(),
  }
}
