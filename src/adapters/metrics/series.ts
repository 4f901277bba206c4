import type { Gauge, TracedHistogram } from '../../core/metrics/metrics.ts'
import { foldedInto, type LabelSet, seriesBudget } from '../../core/metrics/spec.ts'
import type { Exemplars, Format, Shown } from './exposition.ts'

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

export type Labels = Readonly<Record<string, string>>

/** Which labels of a metric fold, in their order. */
export const foldingLabels = (labels: LabelSet): readonly string[] =>
  Object.entries(labels).flatMap(([name, values]) => ('folds' in values && values.folds ? [name] : []))

/** The labels as they are, then with one more of the folding ones folded each time, from the last one on: detail goes first. */
export function foldings(labels: Labels, folding: readonly string[]): readonly Labels[] {
  const steps = [labels]
  for (const name of folding.toReversed()) steps.push({ ...steps.at(-1), [name]: foldedInto })
  return steps
}

/**
 * How many series with labels from the configuration a process has, and whether there is room for more. First come, first served: a
 * destination that has been shown stays shown.
 */
export class SeriesBudget {
  #used = 0
  /** Told of each set of labels that found no room. */
  readonly #onFolded: () => void

  constructor(onFolded: () => void) {
    this.#onFolded = onFolded
  }

  get used(): number {
    return this.#used
  }

  /** `isDetailed`: could fold a label and still tell its destination. */
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

/** A gauge has no `_other`: a sum of states says nothing. What there is no room for is not shown. */
export function bounded(gauge: Gauge<LabelSet>, names: readonly string[], budget: SeriesBudget): Gauge<LabelSet> {
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
