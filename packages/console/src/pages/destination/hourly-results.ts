import type { Ledger, LedgerRow } from '../../api/ledger-types.ts'

export type HourOfResults = Omit<LedgerRow, 'destination'>

const hourMs = 3_600_000

/** Results per hour. An hour without a row in the ledger has zeros. */
export function hourlyResults({
  since,
  until,
  rows,
}: Pick<Ledger, 'since' | 'until' | 'rows'>): readonly HourOfResults[] {
  const byHour = new Map(rows.map(row => [Date.parse(row.hour), row]))
  const hours: HourOfResults[] = []
  for (let at = Date.parse(since); at < Date.parse(until); at += hourMs) {
    const { delivered = 0, deadLettered = 0, dropped = 0, waiting = 0 } = byHour.get(at) ?? {}
    hours.push({ hour: new Date(at).toISOString(), delivered, deadLettered, dropped, waiting })
  }
  return hours
}
