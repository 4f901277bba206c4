import { type LabelSet, overflowLabelValue, seriesBudget } from '../../core/metrics/metric-spec.ts'
import type { Gauge } from '../../core/metrics/metrics.ts'

export type Labels = Readonly<Record<string, string>>

/** The names of the labels whose values `_other` may replace, in the order of `labels`. */
export const foldingLabels = (labels: LabelSet): readonly string[] =>
  Object.entries(labels).flatMap(([name, values]) => ('folds' in values && values.folds ? [name] : []))

/**
 * Returns the label set and one variant for each label in `folding`. Each variant replaces one more
 * value with `_other`, from the last label on.
 */
export function foldings(labels: Labels, folding: readonly string[]): readonly Labels[] {
  const steps = [labels]
  for (const name of folding.toReversed()) steps.push({ ...steps.at(-1), [name]: overflowLabelValue })
  return steps
}

/**
 * Limits the number of series whose labels come from the configuration. At the limit, counters
 * count further label sets under `_other`, and gauges do not show them.
 */
export class SeriesBudget {
  #used = 0
  /** Called for each label set without a series of its own. */
  readonly #onFolded: () => void

  constructor(onFolded: () => void) {
    this.#onFolded = onFolded
  }

  get used(): number {
    return this.#used
  }

  /**
   * Whether the limit allows one more series.
   * @param isDetailed whether `_other` could still replace at least two labels; the limit is then
   * lower
   */
  hasRoom(isDetailed: boolean): boolean {
    return this.#used < (isDetailed ? seriesBudget.detailed : seriesBudget.folding)
  }

  take(): void {
    this.#used += 1
  }

  release(count: number): void {
    this.#used -= count
  }

  folded(): void {
    this.#onFolded()
  }
}

/**
 * Wraps a gauge so that label sets above the limit of series are not shown. They are not added up
 * under `_other`, because a sum of states has no meaning.
 */
export function limitSeries(gauge: Gauge<LabelSet>, names: readonly string[], budget: SeriesBudget): Gauge<LabelSet> {
  const shown = new Set<string>()
  let hidden = new Set<string>()
  /** The label sets for which `SeriesBudget.folded` was already called. */
  let counted = new Set<string>()
  const admit = (key: string): boolean => {
    if (shown.has(key)) return true
    if (hidden.has(key)) return false
    if (budget.hasRoom(false)) {
      budget.take()
      shown.add(key)
      return true
    }
    if (!counted.has(key)) budget.folded()
    hidden.add(key)
    return false
  }
  return {
    set(labels, value) {
      if (admit(JSON.stringify(names.map(name => labels[name])))) gauge.set(labels, value)
    },
    reset() {
      budget.release(shown.size)
      shown.clear()
      counted = hidden
      hidden = new Set()
      gauge.reset()
    },
  }
}
