import type { Entry } from '../../../test/tools/bench/publication/entries.ts'
import { coefficientsFrom } from './coefficients.ts'
import { casesTable, coefficientsTable, outagesTable, usualChoicesTable } from './tables.ts'

/** What stands between the marks of docs/explanation/capacity.md, by the name of the block. Without what was measured it says what is missing. */
export function capacityBlocks(entries: readonly Entry[]): ReadonlyMap<string, string> {
  const orMissing = (text: () => string): string => {
    try {
      return text()
    } catch (error) {
      return `Cannot be worked out: ${(error as Error).message}.`
    }
  }
  const undici = () => coefficientsFrom(entries, 'undici')
  return new Map([
    ['coefficients', orMissing(() => coefficientsTable({ undici: undici(), got: coefficientsFrom(entries, 'got') }))],
    ['choices', usualChoicesTable()],
    ['cases', orMissing(() => casesTable(undici()))],
    ['outages', orMissing(() => outagesTable(undici()))],
  ])
}
