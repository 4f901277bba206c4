import type { LabelSet } from '../../core/metrics/metric-spec-builders.ts'
import type { Count, Counter } from '../../core/metrics/metrics.ts'
import type { ExposedInstrument, ExpositionFormat } from './exposition-format-interface.ts'
import { type Labels, overflowVariants, type SeriesBudget } from './series-budget.ts'

class Total implements Count {
  /** The text before the value in the exposition line of this count. */
  readonly head: string
  total = 0

  constructor(head: string) {
    this.head = head
  }

  inc(by = 1): void {
    this.total += by
  }
}

/**
 * A node of the tree of label values. Most nodes have a single child, which is found without a map.
 */
class Branch {
  count: Total | undefined
  #firstValue: string | undefined
  #first: Branch | undefined
  #others: Map<string, Branch> | undefined

  /** Returns the child for the value of the next label; creates it if needed. */
  childFor(value: string): Branch {
    if (value === this.#firstValue) return this.#first as Branch
    return this.#others?.get(value) ?? this.#grow(value)
  }

  #grow(value: string): Branch {
    const branch = new Branch()
    if (this.#first === undefined) {
      this.#first = branch
      this.#firstValue = value
    } else {
      this.#others ??= new Map()
      this.#others.set(value, branch)
    }
    return branch
  }
}

interface Deps {
  readonly name: string
  readonly help: string
  /** Label names, in the order of the exposition. */
  readonly names: readonly string[]
  /** The labels whose values `_other` replaces when the limit of series is reached. */
  readonly overflowLabels: readonly string[]
  readonly budget: SeriesBudget
}

/**
 * Replaces prom-client's counter, which builds one key from all labels at each call, and blocks the
 * event loop when it writes thousands of series.
 */
export class LabeledCounter implements Counter<LabelSet>, ExposedInstrument {
  readonly #deps: Deps
  /**
   * The label names in the order of the tree. Those in `overflowLabels` come last, because they
   * have many values: the tree then has fewer nodes.
   */
  readonly #order: readonly string[]
  /**
   * The root of the tree. Its children are the values of the first label in `#order`, their
   * children are the values of the second label, and so on.
   */
  readonly #root = new Branch()
  readonly #counts: Total[] = []

  constructor(deps: Deps) {
    this.#deps = deps
    const { names, overflowLabels } = deps
    this.#order = [...names.filter(name => !overflowLabels.includes(name)), ...overflowLabels]
  }

  inc(labels: Labels, by?: number): void {
    this.withLabels(labels).inc(by)
  }

  withLabels(labels: Labels): Total {
    const branch = this.#branchOf(labels)
    branch.count ??= this.#newCount(labels)
    return branch.count
  }

  text({ head: headOf }: ExpositionFormat): string {
    const { name, help } = this.#deps
    const lines = this.#counts.map(({ head, total }) => `${head} ${total}\n`)
    return `${headOf(name, help, 'counter')}\n${lines.join('')}`
  }

  #branchOf(labels: Labels): Branch {
    let branch = this.#root
    for (const name of this.#order) branch = branch.childFor(labels[name] ?? '')
    return branch
  }

  /**
   * Creates the count of this label set. If the limit of series is reached, `_other` replaces the
   * values of one or more labels.
   */
  #newCount(labels: Labels): Total {
    const { overflowLabels, budget } = this.#deps
    const steps = overflowVariants(labels, overflowLabels)
    const at = steps.findIndex(
      (step, overflowing) =>
        overflowing === overflowLabels.length ||
        this.#branchOf(step).count !== undefined ||
        budget.hasRoom(overflowing + 1 < overflowLabels.length),
    )
    const branch = this.#branchOf(steps[at] as Labels)
    if (at > 0) budget.overflowed()
    if (branch.count !== undefined) return branch.count
    if (overflowLabels.length > 0) budget.take()
    branch.count = new Total(this.#headOf(steps[at] as Labels))
    this.#counts.push(branch.count)
    return branch.count
  }

  #headOf(labels: Labels): string {
    const { name, names } = this.#deps
    if (names.length === 0) return name
    return `${name}{${names.map(label => `${label}="${escaped(labels[label] ?? '')}"`).join(',')}}`
  }
}

const escapes: Record<string, string> = { '\\': '\\\\', '"': '\\"', '\n': '\\n' }
const escaped = (value: string): string => value.replace(/[\\"\n]/g, character => escapes[character] as string)
