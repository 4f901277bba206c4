import type { Count, Counter } from '../../core/metrics/metrics.ts'
import type { LabelSet } from '../../core/metrics/spec.ts'
import type { Format, Shown } from './exposition.ts'
import { foldings, type Labels, type SeriesBudget } from './series.ts'

class Total implements Count {
  /** Its line up to the value. */
  readonly head: string
  total = 0

  constructor(head: string) {
    this.head = head
  }

  inc(by = 1): void {
    this.total += by
  }
}

/** The counts whose labels begin alike. Most have a single way on, which is found without a table: a destination's, for one, to its webhook. */
class Branch {
  count: Total | undefined
  #firstValue: string | undefined
  #first: Branch | undefined
  #others: Map<string, Branch> | undefined

  /** To the value of the next label. */
  on(value: string): Branch {
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
  /** In the order of the exposition. */
  readonly names: readonly string[]
  /** Those of them that fold. */
  readonly folding: readonly string[]
  readonly budget: SeriesBudget
}

/**
 * A counter that counts and shows by itself. prom-client makes one key of all labels at every call, which on the way of every delivery costs
 * more than what is counted there; and for thousands of series its exposition holds the event loop ten times as long.
 */
export class Tally implements Counter<LabelSet>, Shown {
  readonly #deps: Deps
  /** Those that fold stand last: they have many values, and what comes before them would be looked up anew for each of these. */
  readonly #way: readonly string[]
  /** By the value of the first label on the way, of those by that of the second one, … */
  readonly #root = new Branch()
  readonly #counts: Total[] = []

  constructor(deps: Deps) {
    this.#deps = deps
    const { names, folding } = deps
    this.#way = [...names.filter(name => !folding.includes(name)), ...folding]
  }

  inc(labels: Labels, by?: number): void {
    this.of(labels).inc(by)
  }

  of(labels: Labels): Total {
    const branch = this.#branchOf(labels)
    branch.count ??= this.#newCount(labels)
    return branch.count
  }

  text({ head: headOf }: Format): string {
    const { name, help } = this.#deps
    const lines = this.#counts.map(({ head, total }) => `${head} ${total}\n`)
    return `${headOf(name, help, 'counter')}\n${lines.join('')}`
  }

  #branchOf(labels: Labels): Branch {
    let branch = this.#root
    for (const name of this.#way) branch = branch.on(labels[name] ?? '')
    return branch
  }

  /** Of these labels, or of those that they are folded into. */
  #newCount(labels: Labels): Total {
    const { folding, budget } = this.#deps
    const steps = foldings(labels, folding)
    const at = steps.findIndex(
      (step, folded) =>
        folded === folding.length ||
        this.#branchOf(step).count !== undefined ||
        budget.hasRoom(folded + 1 < folding.length),
    )
    const branch = this.#branchOf(steps[at] as Labels)
    if (at > 0) budget.folded()
    if (branch.count !== undefined) return branch.count
    if (folding.length > 0) budget.take()
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
