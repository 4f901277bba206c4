import { type LabelSet, overflowLabelValue, seriesBudget } from '../../core/metrics/metric-spec-builders.ts'
import type { Gauge } from '../../core/metrics/metrics.ts'

export type Labels = Readonly<Record<string, string>>

/** The names of the labels whose values `_other` may replace, in the order of `labels`. */
export const overflowLabelsOf = (labels: LabelSet): readonly string[] =>
  Object.entries(labels).flatMap(([name, values]) => ('canOverflow' in values && values.canOverflow ? [name] : []))

/**
 * Returns the label set, and then one variant for each label in `overflowLabels`. The first variant
 * has `_other` as the value of the last label, the second as the values of the last two, and so on.
 */
export function overflowVariants(labels: Labels, overflowLabels: readonly string[]): readonly Labels[] {
  const steps = [labels]
  for (const name of overflowLabels.toReversed()) steps.push({ ...steps.at(-1), [name]: overflowLabelValue })
  return steps
}

/**
 * Limits the number of series whose labels come from the configuration. At the limit, counters
 * count further label sets under `_other`, and gauges omit these label sets.
 */
export class SeriesBudget {
  #used = 0
  /** Called for each label set that gets no series of its own because of the limit. */
  readonly #onOverflow: () => void

  constructor(onOverflow: () => void) {
    this.#onOverflow = onOverflow
  }

  get used(): number {
    return this.#used
  }

  /**
   * Whether the limit allows one more series.
   * @param isDetailed whether `_other` could still replace at least two label values of the series,
   * for example `destination` and `webhook`; a lower limit then leaves room for other series
   */
  hasRoom(isDetailed: boolean): boolean {
    return this.#used < (isDetailed ? seriesBudget.maxBeforeWebhookOverflows : seriesBudget.maxOverflowing)
  }

  take(): void {
    this.#used += 1
  }

  release(count: number): void {
    this.#used -= count
  }

  overflowed(): void {
    this.#onOverflow()
  }
}

/**
 * Wraps a gauge so that label sets above the limit of series are not shown. Their values are not
 * added up under `_other`, because a sum of states has no meaning.
 */
export function limitSeries(gauge: Gauge<LabelSet>, names: readonly string[], budget: SeriesBudget): Gauge<LabelSet> {
  const shown = new Set<string>()
  let hidden = new Set<string>()
  /**
   * Label sets that were hidden before the last `reset`; `overflowed` was already called for them.
   */
  let hiddenBeforeReset = new Set<string>()
  const admit = (key: string): boolean => {
    if (shown.has(key)) return true
    if (hidden.has(key)) return false
    if (budget.hasRoom(false)) {
      budget.take()
      shown.add(key)
      return true
    }
    if (!hiddenBeforeReset.has(key)) budget.overflowed()
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
      hiddenBeforeReset = hidden
      hidden = new Set()
      gauge.reset()
    },
  }
}
