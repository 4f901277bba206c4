import type { Entry } from '../../../test/tools/bench/publication/published-entries.ts'
import { coefficientsFrom } from './coefficients.ts'
import { casesTable, coefficientsTable, defaultAssumptionsTable, outagesTable } from './tables.ts'

/**
 * The texts of the generated blocks of docs/explanation/capacity.md, by the name of the block. If a
 * block needs figures that are not published, its text says which figures are missing.
 */
export function capacityBlocks(entries: readonly Entry[]): ReadonlyMap<string, string> {
  const orMissing = (text: () => string): string => {
    try {
      return text()
    } catch (error) {
      return `This table cannot be computed: ${(error as Error).message}.`
    }
  }
  const undici = () => coefficientsFrom(entries, 'undici')
  return new Map([
    ['coefficients', orMissing(() => coefficientsTable({ undici: undici(), got: coefficientsFrom(entries, 'got') }))],
    ['choices', defaultAssumptionsTable()],
    ['cases', orMissing(() => casesTable(undici()))],
    ['outages', orMissing(() => outagesTable(undici()))],
  ])
}
