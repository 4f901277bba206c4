import { foldedInto, type LabelSet, seriesBudget } from '../../core/metrics/spec.ts'
import type { Gauge } from '../../core/metrics.ts'

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
