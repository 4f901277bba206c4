import type { Entry } from '../../../test/tools/bench/publication/published-entries.ts'
import { coefficientsFrom } from './coefficients.ts'
import { casesTable, coefficientsTable, defaultAssumptionsTable, outagesTable } from './tables.ts'

/**
 * The generated blocks of docs/explanation/capacity.md by name. If figures are missing, the text of
 * the block names them.
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
