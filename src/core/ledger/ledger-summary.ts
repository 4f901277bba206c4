import type { LedgerRow, LedgerTotals } from './ledger-balance-rows.ts'

const summed = ['admitted', 'replayed', 'repeated', 'delivered', 'deadLettered', 'dropped', 'waiting'] as const

/**
 * Adds up all rows, but keeps at most `maxRows` rows: first the rows whose difference is not 0,
 * then the newest rows.
 */
export class LedgerSummary {
  readonly #maxRows: number
  readonly #sums = Object.fromEntries(summed.map(field => [field, 0])) as Record<(typeof summed)[number], number>
  #difference: number | undefined = 0
  #kept: LedgerRow[] = []
  #isCut = false

  constructor(maxRows: number) {
    this.#maxRows = maxRows
  }

  add(row: LedgerRow): void {
    for (const field of summed) this.#sums[field] += row[field]
    if (row.difference === undefined) this.#difference = undefined
    else if (this.#difference !== undefined) this.#difference += Math.abs(row.difference)
    this.#kept.push(row)
    // Sorting only after every `maxRows` added rows keeps the time per row small.
    if (this.#kept.length >= this.#maxRows * 2) this.#cut()
  }

  /** `difference` is the sum of the absolute differences, and is absent if any row has none. */
  get totals(): LedgerTotals {
    return { ...this.#sums, ...(this.#difference !== undefined && { difference: this.#difference }) }
  }

  /** The kept rows, sorted by hour and destination. */
  get rows(): readonly LedgerRow[] {
    this.#cut()
    return this.#kept.toSorted((a, b) => compare(a.hour, b.hour) || compare(a.destination, b.destination))
  }

  get isCut(): boolean {
    this.#cut()
    return this.#isCut
  }

  #cut(): void {
    if (this.#kept.length <= this.#maxRows) return
    this.#kept = this.#kept.sort(byImportance).slice(0, this.#maxRows)
    this.#isCut = true
  }
}

const rank = ({ difference = 0 }: LedgerRow): number => (difference === 0 ? 1 : 0)
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
const byImportance = (a: LedgerRow, b: LedgerRow): number =>
  rank(a) - rank(b) || compare(b.hour, a.hour) || compare(a.destination, b.destination)
